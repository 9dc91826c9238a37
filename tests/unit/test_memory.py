"""Halves of a memory limit for two databases."""

from __future__ import annotations

import duckdb
import pytest
from each import each
from sqlglot import exp

from anondb.__main__ import return_memory
from anondb.engine import DuckDBEngine, memory
from anondb.engine.memory import bytes_of, lending_memory, same_limit

LIMIT = exp.select(exp.Anonymous(this="current_setting", expressions=[exp.Literal.string("memory_limit")]).as_("words"))


def limit_of(engine: DuckDBEngine) -> str:
    return str(engine.select(LIMIT)["words"][0])


@each("given", ["1GB", "3GB", "100MB", "2GiB", None])
def test_the_limit_is_the_same_afterwards(given: str | None) -> None:
    """However often: DuckDB shows one digit behind the point, and cuts the others off."""
    engine = DuckDBEngine.open(memory_limit=given)
    before = limit_of(engine)
    whole = bytes_of(before)
    assert whole is not None and engine.memory_limit == whole
    for _ in range(3):
        with lending_memory(engine) as half:
            assert half == f"{whole // 2} B"
            assert abs((engine.memory_limit or 0) - whole / 2) < whole / 50
        assert limit_of(engine) == before
    with pytest.raises(ZeroDivisionError), lending_memory(engine):
        raise ZeroDivisionError
    assert limit_of(engine) == before
    engine.close()


class Refused(int):
    """A limit whose half DuckDB refuses. It sometimes accepts one byte: when it has moved all that it holds to the disk."""

    def __floordiv__(self, other: int) -> str:  # type: ignore[override]
        return "no"


def test_a_limit_that_is_refused_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old one stays; the transaction goes on."""
    monkeypatch.setattr(memory, "bytes_of", lambda words: Refused(2))
    engine = DuckDBEngine.open(memory_limit="1GB")
    before = limit_of(engine)
    with engine.transaction():
        some = engine.put("some", {"n": ("INTEGER", [1, 2, 3])})
        with lending_memory(engine) as half:
            assert half == "no B" and limit_of(engine) == before
        assert engine.select(exp.select("n").from_(some.expression()))["n"].tolist() == [1, 2, 3]
    engine.close()


def test_a_connection_that_was_passed_in_keeps_its_settings() -> None:
    said: list[str] = []
    connection = duckdb.connect(config={"memory_limit": "1GB"})
    engine = DuckDBEngine(connection, on_statement=said.append)
    with lending_memory(engine) as half:
        assert half == f"{bytes_of(limit_of(engine)) // 2} B"  # type: ignore[operator]
    assert not [text for text in said if text.startswith("SET")]
    engine.close()
    connection.close()


@pytest.mark.parametrize(
    ("shown", "expected"), [("2.7 GiB", "2.75 GiB"), ("381.4 MiB", "381.45 MiB"), ("unlimited", None), ("80 bytes", None)]
)
def test_words_for_the_same_limit(shown: str, expected: str | None) -> None:
    assert same_limit(shown) == expected


@pytest.mark.parametrize("words", [["--memory-limit", "3GB"], ["--memory-limit=3GB"], ["--k", "5"]])
def test_freed_memory_is_returned_under_a_limit(words: list[str]) -> None:
    """Only then, since it takes time; and a user's own setting stays."""
    environment: dict[str, str] = {}
    return_memory(["anondb", "anonymize", "x.dat", *words], environment)
    assert len(environment) == (words[0] != "--k")
    own = {"DUCKDB_JE_MALLOC_CONF": "narenas:1"}
    return_memory(["anondb", *words], own)
    assert own == {"DUCKDB_JE_MALLOC_CONF": "narenas:1"}

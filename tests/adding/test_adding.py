"""A new algorithm and a new model are one value each: registered, they work everywhere without another change."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import duckdb
import pytest
from cli.shop import Run, fill, in_process

import anondb
from anondb.algorithms import METHODS
from anondb.models.named import MODELS
from anondb.promises import PROMISES

HERE = Path(__file__).parent


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both toys, registered for the time of a test; also for processes that compare starts."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.syspath_prepend(str(HERE))
    before = [dict(names) for names in (METHODS, MODELS, PROMISES)]
    for name in ("toy_algorithm", "toy_model"):
        import_module(name)
    yield
    for name in ("toy_algorithm", "toy_model"):
        del sys.modules[name]
    for names, old in zip((METHODS, MODELS, PROMISES), before, strict=True):
        names.clear()
        names.update(old)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line, in this process; its modules are imported anew, as in a process that registers first."""
    return in_process(monkeypatch, capsys)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        fill(connection)
    return tmp_path / "shop.duckdb"


@pytest.mark.parametrize("file", ["toy_algorithm.py", "toy_model.py"])
def test_a_toy_is_short(file: str) -> None:
    lines = (HERE / file).read_text("utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 40


@pytest.mark.slow
def test_the_command_line_takes_a_new_algorithm(toys: None, shop: Path, run: Run, tmp_path: Path) -> None:
    sealed = tmp_path / "toy.duckdb"
    asked = ("anonymize", shop, "--transactions", "sales", "--k", "2", "--algorithm", "toy", "--queries", "5", "--json")
    made = run(*asked, "--option", "groups=2", "--release", "toy", "--publish", sealed)
    assert made.code == 0, made.err
    assert made.json["algorithm"] == "toy" and made.json["released_items"] == 2
    assert run("verify", sealed).code == 0 and run("inspect", sealed).code == 0
    assert run("verify", shop, "--release", "toy", "--against-source").code == 0
    listed = run("algorithms", "toy", "--json").json["algorithms"][0]
    assert listed["options"] == {"groups": {"default": 1, "help": "How many generalized items there are.", "values": "N"}}
    for wrong, words in (("groups=0", "groups must be an integer"), ("group=2", "Did you mean 'groups'?")):
        refused = run(*asked, "--option", wrong, "--release", "other")
        assert refused.code == 2 and words in refused.out
    assert "applies to toy" in run(*asked[:6], "--algorithm", "mm", "--option", "groups=2").err


@pytest.mark.slow
def test_python_sql_and_compare_take_a_new_algorithm(toys: None, shop: Path, run: Run) -> None:
    with anondb.connect(shop) as database:
        made = database.anonymize("sales", model=anondb.KmAnonymity(2, 2), algorithm="toy", groups=2, name="py", queries=5)
        assert made.report is not None and made.report.frozen.released_items == 2
        database.sql(
            "CREATE ANONYMIZED VIEW ddl AS SELECT tid, item FROM sales"
            " WITH (k = 2, m = 1, algorithm = 'toy', groups = 2, queries = 5)"
        )
        assert database.verify(release="ddl").verified
    compared = run("compare", shop, "--algorithms", "toy,mm", "--k", "2", "--queries", "5", "--json")
    assert compared.code == 0, compared.err
    assert {r["algorithm"]: r["status"] for r in compared.json["runs"]} == {"toy": "done", "mm": "done"}


@pytest.mark.slow
def test_a_new_model_works_everywhere(toys: None, shop: Path, run: Run, tmp_path: Path) -> None:
    sealed, proof = tmp_path / "floor.duckdb", tmp_path / "proof"
    model = MODELS["floor"](floor=4)  # type: ignore[call-arg]
    with anondb.connect(shop) as database:
        made = database.anonymize("sales", model=model, algorithm="toy", groups=2, name="py", queries=5)
        assert made.verification.verified and made.manifest["floor"] == "4"
        made.publish(sealed, proof=proof)
        assert not database.verify("sales", model=model).verified
        database.sql(
            "CREATE ANONYMIZED VIEW ddl AS SELECT tid, item FROM sales WITH (model = 'floor', floor = 2, queries = 5)"
        )
    assert run("verify", sealed).code == 0 and run("inspect", sealed).code == 0
    script = (proof / "verify_floor.sql").read_text("utf-8")
    with duckdb.connect(str(sealed), read_only=True) as reader:
        assert "PASS" in str(reader.execute(script).fetchall())
    compared = run("compare", shop, "--model", "floor", "--algorithms", "toy", "--queries", "5", "--json")
    assert compared.code == 0 and json.loads(compared.out)["runs"][0]["status"] == "done"


@pytest.mark.slow
def test_flags_of_a_new_model(toys: None, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are made when the command line is imported, so a model that is registered before has its flags."""
    import subprocess

    words = ["anonymize", str(shop), "--transactions", "sales", "--model", "floor", "--floor", "4", "--algorithm", "toy"]
    code = f"import sys, toy_model, toy_algorithm; sys.argv = ['anondb', *{words!r}, '--json', '--queries', '5'];"
    done = subprocess.run(
        [sys.executable, "-c", code + "from anondb.cli import main; main()"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == {"name": "floor", "floor": 4}

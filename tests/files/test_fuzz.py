"""Random files are read as they are meant, or refused: nothing of them is lost in silence."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from files import generating, generating_layouts, generating_parts, naive
from files.generating import Made
from files.loading import SECRET, Reader
from portions import portions

from anondb.errors import InputError

Read = Callable[[Reader, Path, Made], Any]


def transactions(reader: Reader, path: Path, made: Made) -> Any:
    return reader.load(path, **made.columns, **made.options)


def records(reader: Reader, path: Path, made: Made) -> Any:
    ids = sorted(i for i in made.readings[0] if i.startswith("p")) if made.readings else ["p0"]
    return reader.records(path, ids[: max(len(ids) // 2, 1)])


def constraints(reader: Reader, path: Path, made: Made) -> Any:
    return reader.constraints(path)


def sensitive(reader: Reader, path: Path, made: Made) -> Any:
    return reader.sensitive(path)


KINDS: dict[str, tuple[Callable[[int], Made], Read]] = {
    "valid": (generating.valid_csv, transactions),
    "layouts": (generating_layouts.random_layout, transactions),
    "transactions": (generating_parts.two_parts_of_transactions, transactions),
    "records": (generating_parts.two_parts_of_records, records),
    "constraints": (generating_parts.two_parts_of_constraints, constraints),
    "sensitive": (generating_parts.two_parts_of_sensitive, sensitive),
    "workload": (generating_parts.two_parts_of_workload, lambda reader, path, _: reader.workload(path)),
    "taxonomy": (generating_parts.two_parts_of_taxonomy, lambda reader, path, _: reader.taxonomy(path)),
    "hierarchies": (generating_parts.two_parts_of_hierarchies, lambda reader, path, _: reader.hierarchies(path)),
    "json": (generating_layouts.random_json, transactions),
}


def outcome(read: Read, reader: Reader, path: Path, made: Made) -> str:
    """``equal``, ``refused``, or ``lost`` where a file is read as something else than it may mean."""
    path.write_bytes(made.data)
    try:
        found = read(reader, path, made)
    except InputError as error:
        assert not SECRET.search(str(error)), error
        return "refused"
    return "equal" if found in made.readings else "lost"


@pytest.mark.parametrize("seeds", portions(3, 7, 3000))
@pytest.mark.parametrize("kind", KINDS)
def test_no_row_is_lost_in_silence(kind: str, seeds: range, reader: Reader, tmp_path: Path) -> None:
    make, read = KINDS[kind]
    counts: Counter[str] = Counter()
    lost = []
    for seed in seeds:
        made = make(seed)
        done = outcome(read, reader, tmp_path / made.name, made)
        counts[done] += 1
        counts["valid"] += made.valid
        counts["valid and refused"] += made.valid and done == "refused"
        if done == "lost":
            lost.append((seed, made.what))
    print(kind, dict(counts))
    assert not lost, f"{len(lost)} of {len(seeds)} lost, such as (seed, kind) {lost[:10]}; {dict(counts)}"
    assert counts["equal"] > 0 or not counts["valid"]
    assert counts["valid and refused"] * 100 <= counts["valid"], dict(counts)


@pytest.mark.parametrize("seeds", portions(21, 41, 3000))
def test_the_naive_reader_reads_valid_files_as_the_csv_module_does(seeds: range) -> None:
    for seed in seeds:
        made = generating.valid_csv(seed)
        data = gzip.decompress(made.data) if made.name.endswith(".gz") else made.data
        assert naive.readings(data, "valid.csv", **made.columns, **made.options) == made.readings, seed


@pytest.mark.parametrize("seeds", portions(21, 41, 3000))
def test_the_naive_reader_reads_the_layouts(seeds: range) -> None:
    for seed in seeds:
        made = generating_layouts.random_layout(seed)
        assert naive.readings(made.data, made.name, **made.columns, **made.options) == made.readings, (seed, made.what)


@pytest.mark.slow
def test_the_kinds_of_two_parts_are_read_or_have_no_meaning() -> None:
    """Both happen in each kind of source: a test in which all files had to be refused would show little."""
    for kind in ("transactions", "records", "constraints", "sensitive", "workload", "taxonomy", "hierarchies", "json"):
        made = [KINDS[kind][0](seed) for seed in range(30)]
        assert 5 <= sum(bool(m.readings) for m in made) <= 25, kind

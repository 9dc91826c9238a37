"""The proofs for records and anatomies, against naive checks of damaged rows; and every proof on a sealed file."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import portions, some
from release.proofs import proven
from rt_reference import class_support, kkm_violations, klm_violations

import anondb
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import ConstraintAnonymity, HkpCoherence, KmAnonymity, TransactionalK
from anondb.promises import PROMISES
from anondb.promises.proof_pack import script
from anondb.promises.spec import Shown

BASE = {"release_id": "r1"}
SENSITIVE = ["y", "it's"]
ITEMS = ["a", "b", "c", *SENSITIVE]
Record = tuple[str | None, int | None]
Found = Counter[tuple[str, tuple[str, ...], int]]

# ---------------------------------------------------------------------- records


def damaged_records(seed: int) -> list[tuple[Record, frozenset[str]]]:
    """Records of few values, mostly with enough company."""
    rng = random.Random(seed)
    ages = [(f"[{n}:{n + 9}]", n) for n in (10, 20)] + [(None, None)]
    share = rng.choice([0.3, 0.6, 0.9])
    return [
        (rng.choice(ages), frozenset(x for x in ITEMS if rng.random() < share * (0.4 if x in SENSITIVE else 1)))
        for _ in range(rng.randint(0, 16))
    ]


def proof_of_records(
    rows: Sequence[tuple[Record, frozenset[str]]], text: str, *changes: str
) -> list[tuple[str, tuple[str, ...], int]]:
    with duckdb.connect() as file:
        file.execute("CREATE TABLE manifest AS SELECT 'release_id' AS key, 'r1' AS value")
        file.execute("CREATE TABLE transactions (transaction_id INTEGER, item VARCHAR, copies INTEGER)")
        file.execute(f"CREATE TABLE transaction_ids AS SELECT range::INTEGER AS transaction_id FROM range({len(rows)})")
        file.execute('CREATE TABLE records (transaction_id INTEGER, "class" VARCHAR, "class_lo" BIGINT)')
        for table, values in (
            ("transactions", [(n, i, 1) for n, (_, t) in enumerate(rows) for i in t]),
            ("records", [(n, *values) for n, (values, _) in enumerate(rows)]),
        ):
            if values:
                file.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", values)
        for change in changes:
            file.execute(change)
        return [(words, tuple(items), support) for words, items, support in proven(file, text)]


def records_script(model: str, **parameters: Any) -> str:
    texts = {name: str(value) for name, value in parameters.items()}
    manifest = {**BASE, "model": model, "sensitive": json.dumps(SENSITIVE), **texts}
    return script(manifest, Shown(values=("class", "class_lo")))


def wanted_kkm(rows: Sequence[tuple[Record, frozenset[str]]], k: int, m: float) -> Found:
    """Every (class, itemset) that is held by too few, in the words of the proof; m infinite: of whole transactions."""
    found = kkm_violations(rows, k, m, SENSITIVE)
    known = [(v, t - set(SENSITIVE)) for v, t in rows]
    if m == inf:
        found = {(v, x) for v, x in found if (v, x) in known or not x}
    first = {v: min(n for n, (w, _) in enumerate(rows) if w == v) for v, _ in rows}

    def words(v: object, x: frozenset[str]) -> str:
        if m == inf and x:
            return "a published transaction is contained in too few transactions"
        some = f"values of transaction {first[v]}"  # type: ignore[index]
        return f"too few records with the {some} hold these items" if x else f"too few records have the {some}"

    return Counter((words(v, x), tuple(sorted(x)), class_support(known, v, x)) for v, x in found)


def wanted_klm(rows: Sequence[tuple[Record, frozenset[str]]], l: int, m: float) -> Found:
    first = {v: min(n for n, (w, _) in enumerate(rows) if w == v) for v, _ in rows}
    return Counter(
        (
            f"too many records with the values of transaction {first[v]} that hold these items have the last one, which "  # type: ignore[index]
            "is sensitive",
            (*sorted(x), z),
            class_support(rows, v, x | {z}),
        )
        for v, x, z in klm_violations(rows, l, m, SENSITIVE)
    )


@pytest.mark.slow
@pytest.mark.parametrize("m", some([1, 2, 3, inf], 2, check=[inf]))
def test_kkm(m: float) -> None:
    seen = set()
    for seed in range(20):
        rows, k = damaged_records(seed), 1 + seed % 4
        wanted = wanted_kkm(rows, k, m)
        assert Counter(proof_of_records(rows, records_script("kkm", k=k, m=m))) == wanted
        seen.add(bool(wanted))
    assert seen == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("m", some([1, 2, 3], 2, check=[]))
def test_klm(m: int) -> None:
    seen = set()
    for seed in range(20):
        rows, k, l = damaged_records(seed), 1 + seed % 3, 1 + seed % 4
        wanted = wanted_kkm(rows, k, m) + wanted_klm(rows, l, m)
        assert Counter(proof_of_records(rows, records_script("klm", k=k, l=l, m=m))) == wanted
        seen.add(bool(wanted))
    assert seen == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(5, night=36))
def test_klm_with_m_infinite(seeds: range) -> None:
    """The rows are those violations to which nothing can be added: what all records with the sensitive item share."""
    seen = set()
    for seed in seeds:
        rows, l = damaged_records(seed), 2 + seed % 3
        found = Counter(proof_of_records(rows, records_script("klm", k=1, l=l, m=inf)))
        every = wanted_klm(rows, l, inf)
        closed = {
            (v, x, z)
            for v, x, z in klm_violations(rows, l, inf, SENSITIVE)
            if x == frozenset.intersection(*(t for w, t in rows if w == v and x | {z} <= t)) - set(SENSITIVE)
        }
        assert found <= every and found.total() == len(closed) and bool(found) == bool(every)
        seen.add(bool(every))
    assert seen == {True, False}


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM records WHERE transaction_id = 1",
        "INSERT INTO records FROM records WHERE transaction_id = 1",
        "DELETE FROM transaction_ids WHERE transaction_id = 1",
        "UPDATE transactions SET transaction_id = 99 WHERE transaction_id = 1",
    ],
)
def test_transactions_without_one_record(change: str) -> None:
    rows: list[tuple[Record, frozenset[str]]] = [(("x", 1), frozenset("a"))] * 8
    text = records_script("kkm", k=3, m=2)
    assert proof_of_records(rows, text) == []
    assert [words for words, _, _ in proof_of_records(rows, text, change)] == [
        "a transaction is not listed once with one record"
    ]


# ---------------------------------------------------------------------- anatomies

Value = tuple[int, int, tuple[str, ...], int]


def damaged_buckets(seed: int) -> list[Value]:
    """Buckets with an odd value that is too many, missing, or in a wrong column."""
    rng = random.Random(seed)
    rows: list[Value] = []
    for bucket in range(rng.randint(1, 4)):
        size = rng.randint(2, 6)
        for column, items in enumerate((("a", "b"), ("c", "it's"))[: rng.choice([2, 2, 2, 1])]):
            for _ in range(size - (rng.random() < 0.1)):
                value = [x for x in items if rng.random() < 0.5]
                value += ["a"] if rng.random() < 0.03 else []
                rng.shuffle(value)
                rows.append((bucket, column, tuple(value), 1 + (rng.random() < 0.1)))
    return rows


def wanted_anatomy(rows: Sequence[Value], l: Fraction, columns: int, count_empty: bool, transactions: int) -> Found:
    held = Counter[tuple[int, int, tuple[str, ...]]]()
    for bucket, column, items, copies in rows:
        held[bucket, column, tuple(sorted(set(items)))] += copies
    of_column = {(b, c): sum(n for (x, y, _), n in held.items() if (x, y) == (b, c)) for b, c, _ in held}
    sizes = {b: max(n for (x, _), n in of_column.items() if x == b) for b, _ in of_column}
    all_columns = sorted({c for _, c in of_column})
    found: Found = Counter()
    for (b, c, value), n in held.items():
        if Fraction(n, sizes[b]) > 1 / l and (value or count_empty):
            found[f"too many of bucket {b} have this value in column {c}", value, n] += 1
    for b in sizes:
        for c in all_columns:
            if of_column.get((b, c), 0) != sizes[b]:
                found[f"bucket {b} has too few values in column {c}", (), of_column.get((b, c), 0)] += 1
    for item in set(chain.from_iterable(v for _, _, v in held)):
        places = {c for _, c, v in held if item in v}
        if len(places) > 1:
            found["an item is in several columns", (item,), len(places)] += 1
    if len(all_columns) < 2 or columns not in (0, len(all_columns)):
        found["there are too few or too many columns", (), len(all_columns)] += 1
    if sum(sizes.values()) != transactions:
        found["there are too few or too many transactions", (), sum(sizes.values())] += 1
    return found


def proof_of_buckets(rows: Sequence[Any], text: str) -> Found:
    with duckdb.connect() as file:
        file.execute("CREATE TABLE manifest AS SELECT 'release_id' AS key, 'r1' AS value")
        file.execute("CREATE TABLE buckets (bucket_id INTEGER, column_id INTEGER, items VARCHAR[], copies INTEGER)")
        file.executemany("INSERT INTO buckets VALUES (?, ?, ?, ?)", [(b, c, list(i), n) for b, c, i, n in rows])
        return Counter((words, tuple(items), support) for words, items, support in proven(file, text))


def anatomy_script(l: Fraction, columns: int, empty_values: str, transactions: int) -> str:
    manifest = {**BASE, "model": "anatomy", "l": str(l), "empty_values": empty_values}
    more = {"columns": str(columns)} if columns else {}
    return script({**manifest, **more, "transactions": str(transactions)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("l", "empty_values"),
    some(
        [(Fraction(l), empty_values) for l in ("1", "3/2", "2", "7/3") for empty_values in ("count", "ignore")],
        (Fraction("3/2"), "ignore"),
        ids=lambda case: f"{case[0]}-{case[1]}",
        check=(),
    ),
)
def test_anatomy(l: Fraction, empty_values: str) -> None:
    seen = Counter[str]()
    for seed in range(24):
        rows = damaged_buckets(seed)
        columns, transactions = seed % 3, sum(n for _, c, _, n in rows if c == 0) + (seed % 7 == 0)
        wanted = wanted_anatomy(rows, l, columns, empty_values == "count", transactions)
        assert proof_of_buckets(rows, anatomy_script(l, columns, empty_values, transactions)) == wanted
        seen.update({" ".join(words.split()[:3]) for words, _, _ in wanted} or {"none"})
    assert len(seen) >= (5 if l > 1 else 4), seen


def test_rows_that_are_no_values_of_a_bucket() -> None:
    good: list[Any] = [(1, c, (x,), 1) for c, items in ((1, "ab"), (2, "cd")) for x in items]
    text = anatomy_script(Fraction(2), 2, "count", 2)
    assert not proof_of_buckets(good, text)
    for wrong in ((1, 1, ("a",), 0), (1, 1, (None,), 1), (1, None, ("a",), 1), (None, 1, ("a",), 1)):
        found = proof_of_buckets([*good, wrong], text)
        assert found["a row is no value of a bucket", (), wrong[3]] == 1


# ---------------------------------------------------------------------- sealed files


def shop(place: Path) -> None:
    rng = random.Random(5)
    baskets = [[x for x in "abcdefgh" if rng.random() < 0.35] or ["a"] for _ in range(240)]
    with duckdb.connect(str(place)) as owner:
        owner.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        owner.executemany("INSERT INTO sales VALUES (?, ?)", [(n, x) for n, t in enumerate(baskets) for x in t])
        owner.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        edges = [("all", None), ("P", "all"), ("Q", "all"), *((x, "PQ"[x > "d"]) for x in "abcdefgh")]
        owner.executemany("INSERT INTO food VALUES (?, ?)", edges)
        owner.execute("CREATE TABLE people (tid INTEGER, age INTEGER, town VARCHAR)")
        towns = ["Cork", "Delft", None]
        people = [(n, rng.choice([rng.randint(18, 80), None]), rng.choice(towns)) for n in range(240)]
        owner.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
        owner.execute("CREATE TABLE secrets AS SELECT 'h' AS item")
        owner.execute("CREATE TABLE stated AS SELECT DISTINCT 'knows ' || item AS constraint_id, item FROM sales")
        owner.execute("CREATE TABLE split AS SELECT ord(item) % 4 AS column_id, item FROM (SELECT DISTINCT item FROM sales)")


RECORDS: dict[str, Any] = {"records": "people", "quasi_identifiers": "age,town", "delta": 1}
RELEASES: list[tuple[Any, dict[str, Any]]] = [
    (KmAnonymity(5, 2), {"taxonomy": "food", "max_suppression": 100}),
    (KmAnonymity(5, inf), {"taxonomy": "food", "max_suppression": 100}),
    (TransactionalK(4), {"taxonomy": "food"}),
    (ConstraintAnonymity(5), {"privacy_constraints": "pgen", "max_suppression": 100}),
    (ConstraintAnonymity(5), {"privacy_constraints": "stated", "max_suppression": 100}),
    (HkpCoherence(Fraction(4, 5), 4, 2), {"sensitive": "secrets", "max_suppression": 100}),
    (KkmAnonymity(4, 2), RECORDS),
    (KkmAnonymity(4, inf), RECORDS),
    (KkmAnonymity(4, 2), {**RECORDS, "sensitive": "secrets"}),
    (KlmDiversity(4, 2, 2), {**RECORDS, "sensitive": "secrets"}),
    (Anatomy(Fraction(5, 4)), {"columns": "split"}),
    (Anatomy(Fraction(3, 2), empty_values="ignore"), {"columns": "split"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "options"),
    some(
        RELEASES,
        RELEASES[4],
        check=[RELEASES[1], RELEASES[7], RELEASES[10]],
        ids=lambda case: f"{RELEASES.index(case)}-{case[0].name}",
    ),
)
def test_no_row_on_a_sealed_release(tmp_path: Path, model: Any, options: dict[str, Any]) -> None:
    """And rows as soon as something is missing."""
    shop(tmp_path / "shop.duckdb")
    with anondb.connect(tmp_path / "shop.duckdb") as database:
        made = database.anonymize("sales", model=model, name="one", queries=2, **options)
        with pytest.raises(anondb.InputError, match="include_constraints=True needs"):
            made.publish(tmp_path / "one.duckdb", include_constraints=True)
        made.publish(tmp_path / "one.duckdb", proof=tmp_path / "proof", include_constraints=True)
    text = (tmp_path / "proof" / f"verify_{model.name}.sql").read_text()
    page = (tmp_path / "proof" / "README.md").read_text()
    assert "Needs only the release" in page or model.name == "hkp"
    with duckdb.connect(str(tmp_path / "one.duckdb")) as file:
        assert proven(file, text) == []
        if model.name == "anatomy":
            file.execute("DELETE FROM buckets WHERE rowid = 0")
        elif model.name in ("kkm", "klm"):
            file.execute("DELETE FROM records WHERE transaction_id = 1")
        elif options.get("privacy_constraints") == "stated":
            few = "SELECT min(transaction_id) FROM transaction_items WHERE item_id = 1"
            file.execute(f"DELETE FROM transaction_items WHERE item_id = 1 AND transaction_id > ({few})")
        else:
            file.execute("INSERT INTO labels VALUES (1001, 'new'), (1002, 'newer')")
            file.execute("INSERT INTO transaction_items VALUES (1, 1001, 1), (1, 1002, 1)")
        assert proven(file, text)


def test_every_model_has_a_proof() -> None:
    for name, spec in PROMISES.items():
        assert name == spec.name and spec.claims.startswith("* **Needs") and callable(spec.proof)

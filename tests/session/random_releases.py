"""Random tables of a shop, and their sealed releases, for random queries."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb

import anondb

NAMES = ["milk", "butter", "bread", "rolls", "figs", "dates", "it's", "Milk", "b_x", "100%"]
UNHELD = ["ghost", "Brot"]  # the first may be a leaf of the taxonomy, the second is never one
TOWNS = ["Cork", "Rome", "Oslo", "x'y"]
FIRST_DAY = date(2024, 2, 26)
KM = ["apriori", "mhghs", "hghs", "coat", "vpa", "lra", "pcta", "mm", "similar"]
RELATIONAL = ["rfirst", "tfirst", "rum_bound_rt", "tum_bound_r", "rum_bound_t"]
WITHOUT_TAXONOMY = {"coat", "pcta"}


@dataclass(frozen=True)
class Original:
    """The tables of a shop: what each transaction holds, the taxonomy, prices, and the persons if there are records."""

    baskets: dict[int, list[str]]
    tree: dict[str, str]  # node -> parent
    prices: list[tuple[str, float | None]]
    price_type: str
    records: dict[int, tuple[int | None, str | None, date | None]] = field(default_factory=dict)
    inline: bool = False  # whether the values of records are columns of the transactions
    weeks: dict[int, int] = field(default_factory=dict)  # of the transactions, if each week is a file of its own

    @property
    def items(self) -> list[str]:
        return sorted({item for basket in self.baskets.values() for item in basket})

    def fill(self, connection: Any) -> None:
        """Make the tables; ``connection`` has a method ``sql``."""
        values = ", age INTEGER, town VARCHAR, day DATE"
        more = values if self.inline else ", week INTEGER" if self.weeks else ""
        connection.sql(f"CREATE TABLE sales (tid INTEGER, item VARCHAR{more})")
        connection.sql("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.sql(f"CREATE TABLE prices (item VARCHAR, price {self.price_type})")
        rows = [(tid, item) for tid, basket in self.baskets.items() for item in basket]
        of = self.records if self.inline else {tid: (week,) for tid, week in self.weeks.items()}
        _insert(connection, "sales", [(*row, *of.get(row[0], ())) for row in rows])
        _insert(connection, "food", list(self.tree.items()))
        _insert(connection, "prices", self.prices)
        if self.inline:
            connection.sql("CREATE VIEW records AS SELECT DISTINCT tid, age, town, day FROM sales")
        elif self.records:
            connection.sql(f"CREATE TABLE records (tid INTEGER{values})")
            _insert(connection, "records", [(tid, *values) for tid, values in self.records.items()])


@dataclass(frozen=True)
class Sealed:
    """Sealed files, what they were made from, and how."""

    original: Original
    files: list[Path]
    how: str
    complete: bool  # whether no item was suppressed


def _insert(connection: Any, table: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        connection.sql(f"INSERT INTO {table} VALUES " + ", ".join(f"({', '.join(map(literal, r))})" for r in rows))


def literal(value: object) -> str:
    """A value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, date):
        return f"DATE '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def draw_original(rnd: random.Random, records: bool) -> Original:
    """A random shop; with records some persons may have no transaction."""
    items = rnd.sample(NAMES, rnd.randint(3, 10))
    chances = {item: rnd.choice([0.1, 0.2, 0.4, 0.7]) for item in items}
    baskets = {}
    for tid in range(1, rnd.randint(5, 40) + 1):
        held = [item for item, p in chances.items() if rnd.random() < p]
        if held or not records or rnd.random() < 0.7:
            baskets[tid] = held or [rnd.choice(items)]
        elif rnd.random() < 0.6:
            baskets[tid] = []
    leaves = sorted({*items, *(UNHELD[:1] if rnd.random() < 0.4 else [])})
    parents = ["dairy", "bakery", "fruit"][: rnd.randint(1, 3)]
    tree = {leaf: rnd.choice([*parents, parents[0]]) for leaf in leaves}
    tree |= dict.fromkeys(sorted(set(tree.values())), "all")
    priced = [item for item in [*items, UNHELD[1]] if rnd.random() < 0.9]
    values: list[float | None] = [0.0, 0.5, 1.25, 2.0, 3.0, -1.0, 10.0, 0.1, 0.7, *([None] if rnd.random() < 0.3 else [])]
    prices = [(item, rnd.choice(values)) for item in priced]
    prices += [(item, rnd.choice(values)) for item in priced if rnd.random() < 0.5] if rnd.random() < 0.1 else []
    kind = rnd.choice(["DOUBLE", "DOUBLE", "DECIMAL(9, 2)"])
    inline = records and rnd.random() < 0.4
    if inline:
        baskets = {tid: basket for tid, basket in baskets.items() if basket}
    return Original(baskets, tree, prices, kind, {tid: _person(rnd) for tid in baskets} if records else {}, inline)


def _person(rnd: random.Random) -> tuple[int | None, str | None, date | None]:
    age = rnd.choice([rnd.randint(18, 40), rnd.choice([20, 30]), rnd.choice([20, None])])
    town = rnd.choice([*TOWNS, None])
    return age, town, rnd.choice([FIRST_DAY + timedelta(days=rnd.randint(0, 9)), FIRST_DAY])


def _policy(rnd: random.Random, original: Original) -> dict[str, Any]:
    """The options of a random release."""
    k, m = rnd.choice([2, 2, 2, 3, 4]), rnd.choice([1, 2, 2, 2, 3, math.inf])
    if original.records:
        algorithm = rnd.choice(RELATIONAL)
        model: Any = anondb.KkmAnonymity(k, 2 if m == math.inf else m)
        how = {
            **({} if original.inline else {"records": "records"}),
            "quasi_identifiers": "age,town,day",
            "infeasible": rnd.choice(["suppress", "merge"]),
        }
        how |= {} if algorithm.endswith("first") else {"delta": rnd.choice([0.5, 0.9])}
        return {"model": model, "algorithm": algorithm, **how, **({"taxonomy": "food"} if rnd.random() < 0.5 else {})}
    kind = rnd.choice(["km", "km", "km", "km", "k", "constraints", "anatomy"])
    supports = {"item_supports": True} if rnd.random() < 0.5 and kind != "anatomy" else {}
    if kind == "k":
        return {"model": anondb.TransactionalK(k), "algorithm": "partition", "taxonomy": "food", **supports}
    if kind == "constraints":
        return {"model": anondb.ConstraintAnonymity(k), "privacy_constraints": "secret", **supports}
    if kind == "anatomy":
        return {"model": anondb.Anatomy(2), "columns": 2, "empty_values": "ignore"}
    algorithm = rnd.choice(KM)
    taxonomy = {} if algorithm in WITHOUT_TAXONOMY else {"taxonomy": "food"}
    return {"model": anondb.KmAnonymity(k, m), "algorithm": algorithm, **taxonomy, **supports}


def seal(original: Original, policy: dict[str, Any], file: Path) -> bool:
    """Publish a release, and say whether it is complete, that is, nothing was suppressed."""
    with anondb.connect(file.with_suffix(".raw")) as db:
        original.fill(db)
        db.sql("CREATE TABLE secret (constraint_id INTEGER, item VARCHAR)")
        _insert(db, "secret", [(n // 2, item) for n, item in enumerate(original.items)])
        release = db.anonymize("sales", name="r", queries=1, **policy)
        release.publish(file)
    return _complete(file)


def _complete(file: Path) -> bool:
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute("SELECT value FROM manifest WHERE key = 'suppression'").fetchall() == [("none",)]


def seal_weeks(original: Original, policy: dict[str, Any], folder: Path) -> bool:
    """Publish a view that is divided by weeks, and say whether all files are complete."""
    model = policy["model"]
    options = {"k": model.k, "m": literal("inf") if model.m == math.inf else model.m, "queries": 1}
    options |= {
        name: literal(value) if isinstance(value, str) else value for name, value in policy.items() if name != "model"
    }
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    with anondb.connect(folder.with_suffix(".raw")) as db:
        original.fill(db)
        db.sql(
            f"CREATE ANONYMIZED VIEW r AS SELECT * FROM sales WITH ({listed}, partition_by = 'week', publish = '{folder}')"
        )
    return all(_complete(file) for file in folder.glob("*.duckdb"))


def draw_sealed(rnd: random.Random, folder: Path, records: bool | None = None) -> Sealed:
    """A random shop with its sealed release; at times two files of disjoint persons, or one for each week."""
    while True:
        original = draw_original(rnd, rnd.random() < 0.3 if records is None else records)
        policy = _policy(rnd, original)
        if isinstance(policy["model"], anondb.KmAnonymity) and rnd.random() < 0.15:
            original = replace(original, weeks={tid: rnd.choice([1, 1, 2, 5]) for tid in original.baskets})
        parts = _halves(original) if rnd.random() < 0.1 and not original.weeks else [original]
        files = [folder / f"{rnd.getrandbits(40):x}.duckdb" for _ in parts]
        try:
            if original.weeks:
                complete = [seal_weeks(original, policy, files[0].with_suffix(""))]
                files = sorted(files[0].with_suffix("").glob("*.duckdb"))
            else:
                complete = [seal(part, policy, file) for part, file in zip(parts, files, strict=True)]
        except anondb.AnondbError as error:
            if error.code in ("internal_error", "verification_failed"):
                raise
            continue  # what the policy asks is infeasible, or does not exist
        how = ", ".join(f"{key}={value}" for key, value in policy.items())
        return Sealed(original, files, how + (f", {len(files)} files" if len(files) > 1 else ""), all(complete))


def draw_narrow(rnd: random.Random, folder: Path, records: bool) -> Sealed:
    """A random small shop with a release that shows most items as they are, so that bounds are narrow."""
    while True:
        original = draw_original(rnd, records)
        items = rnd.sample(NAMES, rnd.randint(3, 6))
        baskets = {tid: [i for i in items if rnd.random() < 0.45] for tid in range(1, rnd.randint(6, 16))}
        if not records or original.inline:
            baskets = {tid: basket or items[:1] for tid, basket in baskets.items()}
        persons = {tid: _person(rnd) for tid in baskets} if records else {}
        tree = {**{item: rnd.choice(["dairy", "bakery"]) for item in items}, "dairy": "all", "bakery": "all"}
        original = replace(original, baskets=baskets, tree=tree, records=persons)
        policy: dict[str, Any] = {"model": anondb.KmAnonymity(rnd.choice([2, 2, 3]), 1), "algorithm": "coat"}
        if records:
            policy = {
                "model": anondb.KkmAnonymity(2, 1),
                "algorithm": rnd.choice(["rfirst", "tfirst"]),
                "quasi_identifiers": "age,town,day",
                **({} if original.inline else {"records": "records"}),
            }
        elif rnd.random() < 0.6:
            policy |= {"algorithm": rnd.choice(["apriori", "hghs", "similar"]), "taxonomy": "food"}
        if not records and rnd.random() < 0.5:
            policy["item_supports"] = True
        file = folder / f"{rnd.getrandbits(40):x}.duckdb"
        try:
            complete = seal(original, policy, file)
        except anondb.AnondbError as error:
            if error.code in ("internal_error", "verification_failed"):
                raise
            continue  # what the policy asks is infeasible
        return Sealed(original, [file], str(policy), complete)


def _halves(original: Original) -> list[Original]:
    tids = list(original.baskets)
    return [
        Original(
            {tid: original.baskets[tid] for tid in part},
            original.tree,
            original.prices,
            original.price_type,
            {tid: original.records[tid] for tid in part if original.records},
            original.inline,
        )
        for part in (tids[::2], tids[1::2])
    ]

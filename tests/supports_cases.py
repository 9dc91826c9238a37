"""Small releases with item supports: worked out by the SQL of anondb and by tests/reference_supports.py."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

import reference_supports as ref
from reference_supports import Line, Row, Supports
from release.cases import catalog, dataset, recoding
from release.cases import rows as stored

from anondb.engine import Engine, Table
from anondb.models.transactional import KmAnonymity
from anondb.release.freeze import freeze
from anondb.release.item_supports import SupportRule
from anondb.release.objects import SUPPORTS, SchemaName, release_schema
from anondb.verify.item_supports import verify_item_supports

Members = Mapping[str, Sequence[str]]
Bound = int | float
Published = tuple[Sequence[Row], Members, Sequence[tuple[Any, ...]]]
"""Rows, members of the released items, and the lines of a table with weights."""
APART = "\x1f"  # between the number of a case and a label


def released(originals: Sequence[Collection[str]], members: Members) -> list[Row]:
    """The rows of a global recoding."""
    return [frozenset(label for label, items in members.items() if set(items) & set(t)) for t in originals]


def shown(members: Members, rows: Sequence[Row]) -> dict[str, Sequence[str]]:
    """The members of the released items that occur."""
    return {label: items for label, items in members.items() if any(label in row for row in rows)}


def number(m: Bound) -> int | None:
    """The m of the rule, where None stands for any number of items."""
    return None if m == float("inf") else int(m)


def freeze_with_supports(
    engine: Engine, originals: Sequence[Collection[str]], members: Members, k: int, m: Bound, name: str
) -> SchemaName:
    """Freeze a global recoding with item supports."""
    schema = release_schema(catalog(engine), name)
    with engine.transaction():
        data = dataset(engine, originals)
        rule = SupportRule(k, number(m))
        model = KmAnonymity(k, m)
        freeze(engine, data, recoding(data, members), model, release_schema=schema, replace=True, supports=rule)
    return schema


def frozen_lines(engine: Engine, schema: SchemaName) -> list[tuple[Any, ...]]:
    """The table of a frozen release."""
    return stored(engine, f'FROM "{schema.name}".item_supports')


def asked(engine: Engine, schema: SchemaName, queries: Sequence[Sequence[str]]) -> list[tuple[int, float, int]]:
    """What ``count_bounds`` says of each query."""
    lists = ", ".join(f"({n}, [{', '.join(map(repr, q))}]::VARCHAR[])" for n, q in enumerate(queries))
    text = f'(VALUES {lists}) AS q(n, asked), "{schema.name}".count_bounds(q.asked) AS b'
    found = stored(engine, f"SELECT n, b.* FROM {text} ORDER BY n")
    assert [row[0] for row in found] == list(range(len(queries)))
    return [row[1:] for row in found]  # type: ignore[misc]


def weight_of(label: ref.Label) -> Fraction:
    """The root of w = 1 - product of (1 - w p) over the shares p of the members, by bisection; 0 without a positive one."""
    shares = [Fraction(low + high, 2 * label.s) for low, high in label.of.values()]
    if sum(shares) <= 1:
        return Fraction(0)
    low, high = 0.0, 1.0
    for _ in range(80):
        middle, lacking = (low + high) / 2, 1.0
        for share in shares:
            lacking *= 1 - middle * float(share)
        low, high = (middle, high) if 1 - lacking > middle else (low, middle)
    return Fraction(high)


def weights_of(rows: Sequence[Row], members: Members, table: Supports) -> dict[str, Fraction]:
    """The weight of each released item that has item supports."""
    labels = [ref.Label(rows, label, members[label], table) for label in sorted({label for label, _ in table})]
    return {label.label: weight_of(label) for label in labels if label.s}


def weighted(rows: Sequence[Row], members: Members, lines: Sequence[Line]) -> list[tuple[Any, ...]]:
    """The lines with the weights of their bounds, so that they break nothing else; 1 where there is none."""
    table = {
        (u, x): (low, high) for u, x, low, high in lines if u in members and x in members[u] and None not in (low, high)
    }
    found = {label: float(w) for label, w in weights_of(rows, members, table).items()}
    return [(*line, found.get(line[0] or "", 1.0)) for line in lines]


def tables_of(
    engine: Engine, cases: Sequence[tuple[Sequence[Row], Members, Sequence[Row]]], k: int, m: Bound
) -> list[Supports]:
    """The tables that the rule gives for rows, members and originals, by one call of its SQL."""
    held = []
    for n, (rows, below, originals) in enumerate(cases):
        for label, items in below.items():
            name = f"{n}{APART}{label}"
            inside = [o for row, o in zip(rows, originals, strict=True) if label in row]
            held += [(name, x, len(inside), sum(x in o for o in inside)) for x in items]
    found: list[Supports] = [{} for _ in cases]
    for name, item, low, high in rule_of(engine, held, k, m):
        case, label = name.split(APART)
        found[int(case)][label, item] = low, high
    return found


def rule_of(engine: Engine, held: Sequence[tuple[str, str, int, int]], k: int, m: Bound) -> list[tuple[str, str, int, int]]:
    """The lines that the SQL of the rule returns, without the supports.

    ``held`` has each released item and member, with the numbers of transactions that show the one and hold the other.
    """
    members = put(engine, "case_members", "released_item VARCHAR, item VARCHAR, support BIGINT, n BIGINT", held)
    found = engine.query("warehouse/release/item_supports", {"members": members}, k=k, m=number(m))
    engine.drop(members)
    return list(zip(*(found[c].tolist() for c in ("released_item", "item", "at_least", "at_most")), strict=True))


def put(engine: Engine, name: str, columns: str, lines: Sequence[tuple[Any, ...]]) -> Table:
    """A work table of some lines."""
    kinds = [c.split() for c in columns.split(", ")]
    return engine.put(name, {c: (kind, [line[n] for line in lines]) for n, (c, kind) in enumerate(kinds)})


def verdicts(engine: Engine, cases: Sequence[Published], k: int, m: Bound) -> list[list[str]]:
    """What the verifier says is wrong with each of many tables, by one call of its SQL."""
    numbered: dict[str, int] = {}
    occurrences, members, lines = [], [], []
    tid = 0
    for n, (rows, below, table) in enumerate(cases):
        for row in rows:
            tid += 1
            occurrences += [(tid, numbered.setdefault(f"{n}{APART}{u}", len(numbered))) for u in sorted(row)]
        members += [(f"{n}{APART}{u}", f"{n}{APART}{x}") for u, items in below.items() for x in items]
        lines += [tuple(v if v is None or c > 1 else f"{n}{APART}{v}" for c, v in enumerate(line)) for line in table]
    tables = _verified_tables(engine, occurrences, numbered, members, lines)
    found = engine.query("warehouse/verify/item_supports", tables, k=k, m=number(m))
    engine.drop(*tables.values())
    wrong: list[list[str]] = [[] for _ in cases]
    columns = (found[name].tolist() for name in ("violation", "released_item", "item"))
    for words, *names in zip(*columns, strict=True):
        named = next(name for name in names if name is not None)
        wrong[int(named.split(APART)[0])].append(words)
    return wrong


def _verified_tables(
    engine: Engine,
    occurrences: Sequence[tuple[int, int]],
    numbered: Mapping[str, int],
    members: Sequence[tuple[str, str]],
    lines: Sequence[tuple[Any, ...]],
) -> dict[str, Table]:
    """The tables that the verifier reads."""
    columns = ", ".join(f"{name} {kind}" for name, kind in SUPPORTS.items())
    items = [(number, label) for label, number in numbered.items()]
    return {
        "transactions": put(engine, "case_transactions", "tid INTEGER, item INTEGER", occurrences),
        "items": put(engine, "case_items", "item INTEGER, label VARCHAR", items),
        "released_items": put(engine, "case_members", "released_item VARCHAR, item VARCHAR", members),
        "item_supports": put(engine, "case_lines", columns, lines),
    }


def verified(engine: Engine, case: Published, k: int, m: Bound) -> int:
    """How much is wrong with one table, by the verifier."""
    rows, below, lines = case
    labels = sorted({u for row in rows for u in row})
    occurrences = [(n, labels.index(u)) for n, row in enumerate(rows, 1) for u in sorted(row)]
    members = [(u, x) for u, items in below.items() for x in items]
    tables = _verified_tables(engine, occurrences, {u: n for n, u in enumerate(labels)}, members, lines)
    found = verify_item_supports(engine, **tables, k=k, m=number(m))
    engine.drop(*tables.values())
    return found

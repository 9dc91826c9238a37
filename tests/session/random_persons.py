"""Random queries of one row, on transactions and on booleans of persons, by kind."""

from __future__ import annotations

from dataclasses import replace

from session.random_analyst import Analyst, Asked


def counts(a: Analyst) -> Asked:
    return Asked(a.numbers(a.number, 4), f"FROM sales{a.where()}")


def ratios(a: Analyst) -> Asked:
    numbers = a.numbers(lambda: a.arithmetic(a.number), 2)  # all may be constants
    return Asked((*numbers, "count(*) AS c9"), f"FROM sales{a.where()}")


def conditions(a: Analyst) -> Asked:
    columns = [f"{a.condition(a.number)} AS b0", f"bool_or({a.test()}) AS b1", f"bool_and({a.test()}) AS b2"]
    columns.append(f"{a.condition(lambda: a.arithmetic(a.number, 1))} AS b3")
    return Asked(tuple(a.rnd.sample(columns, 2)), f"FROM sales{a.where()}")


def persons(a: Analyst) -> Asked:
    columns = a.rnd.sample(["count(DISTINCT x.tid) AS c0", "count(*) AS c1"], a.rnd.randint(1, 2))
    return Asked(tuple(columns), f"FROM sales x WHERE {a.person('x')}")


def ids(a: Analyst) -> Asked:
    table = a.ids(2)
    if a.rnd.random() < 0.4:
        table = f"{a.ids(1)} {a.one('INTERSECT', 'EXCEPT', 'UNION', 'UNION ALL', 'INTERSECT ALL', 'EXCEPT ALL')} {a.ids(1)}"
    counted = a.one("count(*)", "count(*)", "count(DISTINCT tid)", "count(tid)")
    return Asked((f"{counted} AS c0",), f"FROM ({table}) q")


def having_persons(a: Analyst) -> Asked:
    where = a.where()
    return Asked(("count(*) AS c0",), f"FROM (SELECT tid FROM sales{where} GROUP BY tid HAVING {a.having()}) q")


def lists(a: Analyst) -> Asked:
    aggregate = a.one("list(item)", "array_agg(item)", "list(DISTINCT item)")
    test = a.one(
        f"list_contains(items, {a.item()})", f"list_has_any(items, [{a.items()}])", f"list_has_all(items, [{a.items()}])",
        f"list_contains(items, {a.item()}) AND NOT list_contains(items, {a.item()})", f"len(items) > {a.rnd.randint(0, 4)}",
    )  # fmt: skip
    return Asked(
        ("count(*) AS c0",), f"FROM (SELECT tid, {aggregate} AS items FROM sales{a.where()} GROUP BY tid) WHERE {test}"
    )


def _persons_table(a: Analyst, columns: int) -> str:
    flags = [f"bool_or({a.test()}) AS k{n}" for n in range(columns)]
    return f"SELECT tid, {', '.join(flags)} FROM sales{a.where()} GROUP BY tid"


def crosstabs(a: Analyst) -> Asked:
    n = a.rnd.randint(1, 2)
    keys = tuple(f"k{i}" for i in range(n))
    before = f"WITH p AS ({_persons_table(a, n)})"
    counted = ("count(*) AS c0", *(("count(DISTINCT tid) AS c1",) if a.rnd.random() < 0.3 else ()))
    if a.rnd.random() < 0.3:
        return Asked((*keys, "count(*) * 100.0 / sum(count(*)) OVER () AS n1"), f"FROM p GROUP BY {', '.join(keys)}", before)
    return Asked((*keys, *counted), f"FROM p GROUP BY {', '.join(keys)}", before)


def flags(a: Analyst) -> Asked:
    """Aggregates of a table of booleans of persons."""

    def number() -> str:
        return a.one(
            "count(*)", "count_if(k0)", "count_if(k0 AND k1)", "count(*) FILTER (WHERE k0 AND NOT k1)", "sum(k0::INTEGER)",
            "avg(k1::INTEGER)", "sum(CASE WHEN k0 OR k1 THEN 1 ELSE 0 END)", "count(CASE WHEN k1 THEN tid END)",
        )  # fmt: skip

    where = a.one("", "", " WHERE k0", " WHERE k0 OR NOT k1")
    return Asked(a.numbers(lambda: a.arithmetic(number, 1)), f"FROM p{where}", f"WITH p AS ({_persons_table(a, 2)})")


def labels(a: Analyst) -> Asked:
    parts = [f"SELECT '{n}' AS k0, {a.number()} AS n0 FROM sales{a.where()}" for n in range(1, a.rnd.randint(2, 4))]
    first = Asked(("'0' AS k0", f"{a.number()} AS n0"), f"FROM sales{a.where()}")
    return replace(first, rest=" UNION ALL ".join([first.rest, *parts]) + a.one("", " ORDER BY 2", " ORDER BY k0"))


def scalars(a: Analyst) -> Asked:
    def scalar() -> str:
        return f"(SELECT {a.number()} FROM sales{a.where()})"

    return Asked(a.numbers(lambda: a.arithmetic(scalar, a.rnd.randint(0, 1)), 2), "")


def exists(a: Analyst) -> Asked:
    test = f"EXISTS (SELECT 1 FROM sales x WHERE {a.person('x', 1)})"
    number = f"(SELECT count(*) FROM sales{a.where()})"
    return Asked((f"{a.one('', 'NOT ')}{test} AS b0", f"CASE WHEN {test} THEN {number} ELSE 0 END AS n0"), "")


def joins(a: Analyst) -> Asked:
    kind = a.one("LEFT JOIN", "SEMI JOIN", "ANTI JOIN", "JOIN", "JOIN")
    one, two = (f"SELECT DISTINCT tid FROM sales{a.where()}" for _ in range(2))
    if kind in ("SEMI JOIN", "ANTI JOIN"):
        return Asked(("count(*) AS c0",), f"FROM m {kind} b USING (tid)", f"WITH m AS ({one}), b AS ({two})")
    counted = a.numbers(lambda: a.one("count(*)", "count(b.tid)", "count(b.tid) * 1.0 / count(*)", "count(m.tid)"))
    if a.rnd.random() < 0.5:
        rest = f"FROM m {kind} b ON m.tid = b.tid{a.one('', '', ' WHERE b.tid IS NULL')}"
        return Asked(counted, rest, f"WITH m AS ({one}), b AS ({two})")
    test = f"{a.test('m.item')} AND {a.test('b.item')}" if kind == "JOIN" else a.test("m.item")
    return Asked(("count(DISTINCT m.tid) AS c0",), f"FROM sales m {kind} sales b ON m.tid = b.tid WHERE {test}")

"""Random queries that are answered as others: grouping sets, persons beside rows of a table, averages of categories."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _sets(a: Analyst, one: str, two: str) -> str:
    return a.one(
        f"ROLLUP ({one}, {two})", f"CUBE ({one}, {two})", f"ROLLUP ({two}), {one}", f"ROLLUP (({one}, {two}))",
        f"GROUPING SETS (({one}), ({one}, {two}))", f"GROUPING SETS (({two}), ({one}), ())",
        f"GROUPING SETS (({one}, {two}), ())",
    )  # fmt: skip


def sets_of_items(a: Analyst) -> Asked:
    key = a.labelled()
    named = a.rnd.random() < 0.5 or not key.endswith(", 1)")  # the parser reads no IN in sets
    shown = (f"{key} AS k0", "item AS k1", f"GROUPING({key}, item) AS k2")
    counted = a.numbers(lambda: a.one("count(*)", "count(DISTINCT tid)", "count(*) * 2"), 2)
    sets = _sets(a, "k0" if named else key, a.one("item", "2"))
    return Asked((*shown, *counted), f"FROM sales{a.where()} GROUP BY {sets}")


def sets_of_categories(a: Analyst) -> Asked:
    columns = (
        "parent AS k0",
        "item AS k1",
        "GROUPING(parent, item) AS k2",
        a.one("count(*) AS c0", "count(DISTINCT tid) AS c0"),
    )
    return Asked(columns, f"FROM sales JOIN food ON item = node{a.where()} GROUP BY {_sets(a, 'parent', 'item')}")


def sets_of_groups(a: Analyst) -> Asked:
    """Grouping sets over known rows."""
    inner = f"SELECT item, {a.labelled()} AS l, count(*) AS n FROM sales{a.where()} GROUP BY 1, 2"
    columns = ("item AS k0", "l AS k1", "GROUPING(item, l) AS k2", "sum(n) AS n0", "count(*) AS c1")
    return Asked(columns, f"FROM ({inner}) GROUP BY {_sets(a, 'item', 'l')}")


def attribute_sets(a: Analyst) -> Asked:
    columns = ("town AS k0", "GROUPING(town) AS k1", a.one("count(*) AS c0", "count(DISTINCT r.tid) AS c0"))
    joined = a.one("", f" JOIN sales s USING (tid) WHERE {a.test('s.item')}")
    return Asked(columns, f"FROM records r{joined} GROUP BY {a.one('ROLLUP', 'CUBE')} (town)")


def ranges_of_sizes(a: Analyst) -> Asked:
    sizes = f"(SELECT tid, count(*) AS n FROM sales{a.where()} GROUP BY tid)"
    if a.rnd.random() < 0.5:
        more = a.one("", "", ", (1, 2)", ", (1, 3)", ", (NULL, 1)")  # rows of one group are refused
        table, test = f"(VALUES (0, 1), (1, 2), (2, 9){more}) AS t(k, high)", "s.n BETWEEN t.k AND t.high"
    else:
        table, test = ("generate_series(0, 3) AS t(k)", a.one("s.n >= t.k", "s.n > t.k + 1", "s.n = t.k", "t.k * 2 <= s.n"))
    if a.rnd.random() < 0.4:
        return Asked(("t.k AS k0", "count(s.tid) AS c0"), f"FROM {table} LEFT JOIN {sizes} s ON {test} GROUP BY t.k")
    key = a.one("t.k", "t.k", "t.k % 2")
    columns = (f"{key} AS k0", *a.numbers(lambda: a.one("count(*)", "avg(s.n)", "max(s.n)"), 2))
    order = a.one("", f" ORDER BY {key}", " ORDER BY k0 DESC")
    return Asked(columns, f"FROM {table} JOIN {sizes} s ON {test} GROUP BY {key}{order}")


def attribute_ranges(a: Analyst) -> Asked:
    low = a.rnd.choice(a.ages) // 10 * 10 - 10
    table = f"generate_series({low}, {low + 30}, 10) AS g(k)"
    test = a.one("r.age >= g.k AND r.age < g.k + 10", "r.age BETWEEN g.k AND g.k + 5", "r.age > g.k")
    join = a.one("LEFT JOIN", "JOIN")
    return Asked(("g.k AS k0", "count(r.tid) AS c0"), f"FROM {table} {join} records r ON {test} GROUP BY g.k")


def attribute_calendar(a: Analyst) -> Asked:
    start = min(a.days)
    table = f"(SELECT unnest(generate_series(DATE '{start}', DATE '{start}' + 20, INTERVAL 7 DAY))::DATE AS k) AS w"
    test = a.one("r.day >= w.k AND r.day < w.k + 7", "r.day = w.k", "w.k <= r.day")
    join = a.one("LEFT JOIN", "JOIN")
    return Asked(("w.k AS k0", "count(r.tid) AS c0"), f"FROM {table} {join} records r ON {test} GROUP BY w.k")


def averages_of_categories(a: Analyst) -> Asked:
    inner = f"SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node{a.where()} GROUP BY tid"
    return Asked(("avg(c) AS n0",), f"FROM ({inner})")

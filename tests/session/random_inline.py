"""Random queries on relational values that are columns of the transactions' own table."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked

KEYS = ("town", "age", "day", "age // 10 * 10", "dayname(day)", "date_trunc('month', day)", "age IS NULL", "item")


def _counted(a: Analyst) -> str:
    return a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.value()})")


def inline_counts(a: Analyst) -> Asked:
    where = a.one(a.value(), f"{a.test()} AND {a.value()}", f"{a.value()} OR {a.test()}", f"tid IN ({a.ids(1)})")
    return Asked(a.numbers(lambda: _counted(a)), f"FROM sales WHERE {where}")


def inline_groups(a: Analyst) -> Asked:
    key = a.one(*KEYS)
    where = a.one("", f" WHERE {a.value()}", f" WHERE {a.test()}", f" WHERE {a.test()} AND {a.value()}")
    return Asked((f"{key} AS k0", *a.numbers(lambda: _counted(a), 2)), f"FROM sales{where} GROUP BY {key}")


def inline_crosstabs(a: Analyst) -> Asked:
    one, two = a.rnd.sample(["town", "age // 10 * 10", "day", "item", "age IS NULL", "age"], 2)
    where = a.one("", f" WHERE {a.value()}", f" WHERE {a.test()}")
    columns = (f"{one} AS k0", f"{two} AS k1", *a.numbers(lambda: _counted(a), 1))
    return Asked(columns, f"FROM sales{where} GROUP BY {one}, {two}")


def inline_persons(a: Analyst) -> Asked:
    """Values beside aggregates of a person's rows, with GROUP BY id, and those of DISTINCT rows."""
    town = a.one("town", "any_value(town) AS town", "max(town) AS town", "min(town) AS town")
    grouped = "tid, town" if town == "town" else "tid"
    of_values = f"max(age) > {a.one('20', '30')} {a.one('AND', 'OR')} {a.having()}"
    having = a.one("", f" HAVING {a.having()}", f" HAVING {of_values}")
    rows = a.one(
        f"SELECT tid, {town}, count(*) AS size FROM sales GROUP BY {grouped}{having}",
        "SELECT DISTINCT tid, town FROM sales",
        f"SELECT DISTINCT tid, town FROM sales WHERE {a.test()}",
    )
    if rows.startswith("SELECT tid") and a.rnd.random() < 0.2:
        return Asked(("town AS k0", "size AS k1", "count(*) AS c0"), f"FROM ({rows}) GROUP BY town, size")
    number = a.one("count(*)", "avg(size)", "sum(size)", "max(size)", "count(*) FILTER (WHERE size > 1)")
    if a.rnd.random() < 0.5:
        return Asked(("town AS k0", f"{number} AS n0"), f"FROM ({rows}) GROUP BY town")
    where = a.one("town = 'Cork'", "town IS NOT NULL", "town <> 'Rome'")
    return Asked((f"{number} AS n0",), f"FROM ({rows}) WHERE {where}")


def inline_pairs(a: Analyst) -> Asked:
    """Persons of whom one row passes a test and another one has a value."""
    where = a.one(f"{a.test('s.item')} AND {a.value('t')}", f"{a.value('s')} AND {a.test('t.item')}")
    if a.rnd.random() < 0.5:
        return Asked(("count(DISTINCT s.tid) AS c0",), f"FROM sales s JOIN sales t ON s.tid = t.tid WHERE {where}")
    inner = f"SELECT 1 FROM sales t WHERE t.tid = s.tid AND {a.test('t.item')}"
    exists = f"{a.one('', 'NOT ')}EXISTS ({inner})"
    return Asked(("count(DISTINCT s.tid) AS c0",), f"FROM sales s WHERE {a.value('s')} AND {exists}")

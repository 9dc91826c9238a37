"""Random queries by the column that divides a folder into files, by kind."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _week(a: Analyst) -> str:
    """A condition on the week of a row."""
    test = a.one("week = 1", "week IN (1, 5)", "week > 1", "week BETWEEN 2 AND 9", "week = 4", "week <> 2", "week <= 2")
    return a.one(test, test, test, f"NOT ({test})", f"({test} OR week = 5)")


def weekly_groups(a: Analyst) -> Asked:
    key = a.one("week", "week", "week", "week // 2", "CASE WHEN week = 1 THEN 'first' ELSE 'rest' END", "week % 2")
    test = a.one("", f" WHERE {_week(a)}", f" WHERE {a.test()}", f" WHERE {_week(a)} AND {a.test()}")
    if a.rnd.random() < 0.4:
        columns = (f"{key} AS k0", "item AS k1", *a.numbers(a.counting, 2))
        return Asked(columns, f"FROM sales{test} GROUP BY {key}, item")
    having = f" HAVING {a.condition(a.counting)}" if a.rnd.random() < 0.3 else ""
    return Asked((f"{key} AS k0", *a.numbers(a.number)), f"FROM sales{test} GROUP BY {key}{having}", filtered=bool(having))


def weekly_tests(a: Analyst) -> Asked:
    kind = a.rnd.random()
    if kind < 0.3:
        return Asked((f"count(*) FILTER (WHERE {_week(a)}) AS c0", f"{a.counting()} AS c1"), f"FROM sales{a.where()}")
    if kind < 0.5:
        columns = ("item AS k0", f"count(*) FILTER (WHERE {_week(a)}) AS c0", "count(*) AS c1")
        return Asked(columns, f"FROM sales{a.where()} GROUP BY item")
    if kind < 0.75:
        return Asked(a.numbers(a.number), f"FROM sales WHERE {_week(a)} AND {a.test()}")
    return Asked(a.numbers(a.counting), f"FROM sales WHERE {_week(a)} AND tid {a.one('', 'NOT ')}IN ({a.ids(1)})")


def weekly_sizes(a: Analyst) -> Asked:
    sizes = f"(SELECT tid, week, count(*) AS n FROM sales{a.where()} GROUP BY tid, week) AS q"
    test = a.one("", f" WHERE {_week(a)}", " WHERE n > 1")
    if a.rnd.random() < 0.5:
        over = ("avg(n)", "max(n)", "min(n)", "median(n)", "quantile_disc(n, 0.8)", "stddev_pop(n)", "var_samp(n)")
        return Asked(a.numbers(lambda: a.one(*over), 2), f"FROM {sizes}{test}")
    columns = ("week AS k0", *a.numbers(lambda: a.one("count(*)", "avg(n)", "max(n)", "min(n)", "sum(n)", "median(n)"), 2))
    return Asked(columns, f"FROM {sizes}{test} GROUP BY week")


def weekly_results(a: Analyst) -> Asked:
    per = f"SELECT week, {a.counting()} AS n FROM sales{a.where()} GROUP BY week"
    number = a.one("avg(n) AS n0", "max(n) AS n0", "count(*) AS c0", "sum(n) AS n0", "max(week) AS n0")
    if a.rnd.random() < 0.4:
        return Asked(("week AS k0", "n AS n0", "n * 100.0 / sum(n) OVER () AS n1"), f"FROM ({per})")
    return Asked((number,), f"FROM ({per})")

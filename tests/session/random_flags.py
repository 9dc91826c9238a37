# ruff: noqa: E501
"""Random queries on numbers and conditions of each person, in the words of analysts, by kind."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked
from session.random_releases import literal


def _one(a: Analyst, test: str) -> str:
    """A number of a person that is 0 or 1."""
    return a.one(
        f"max(CASE WHEN {test} THEN 1 ELSE 0 END)", f"min(CASE WHEN {test} THEN 1 ELSE 0 END)", f"max(({test})::INTEGER)",
        f"CASE WHEN bool_or({test}) THEN 1 ELSE 0 END", f"bool_or({test})::INTEGER", f"max(CASE WHEN {test} THEN 0 ELSE 1 END)",
        f"(count(*) FILTER (WHERE {test}) > 0)::INTEGER", f"if(sum(CASE WHEN {test} THEN 1 ELSE 0 END) > 0, 1, 0)",
        f"CASE WHEN count(*) > 2 AND bool_or({test}) THEN 1 ELSE 0 END", f"max(if({test}, 1, 0))",
    )  # fmt: skip


def _truth(a: Analyst, test: str) -> str:
    """A condition on a person."""
    return a.one(
        f"sum(CASE WHEN {test} THEN 1 ELSE 0 END) > 0", f"count(*) FILTER (WHERE {test}) >= 2", f"max({test})", f"min({test})",
        f"max(CASE WHEN {test} THEN 1 ELSE 0 END) = 1", f"coalesce(bool_or({test}), false)", f"bool_or({test}) = true",
        f"count(CASE WHEN {test} THEN 1 END) = 0", f"NOT max(CASE WHEN {test} THEN true ELSE false END)",
        f"bool_or({test}) AND count(*) < 4", f"sum(({test})::INTEGER) BETWEEN 1 AND 2", f"bool_and({test}) <> true",
        f"count(DISTINCT CASE WHEN {test} THEN item END) > 1", f"min(CASE WHEN {test} THEN 1 ELSE 0 END) > 0",
        f"sum(CASE WHEN {test} THEN 1 ELSE 0 END) {a.one('>', '>=', '<', '=', '<>')} sum(CASE WHEN {a.test()} THEN 1 ELSE 0 END)",
        f"count(*) FILTER (WHERE {test}) {a.one('>', '<=')} count(*) FILTER (WHERE item IN ({a.items()}))",
        f"bool_or({test}) {a.one('=', '<>', 'IS DISTINCT FROM')} bool_or({a.test()})", f"bool_and({test}) <> (count(*) > 2)",
    )  # fmt: skip


def _of_persons(a: Analyst) -> str:
    numbers = ", ".join(f"{_one(a, a.test())} AS f{n}" for n in range(2))
    return f"SELECT tid, {numbers}, {_truth(a, a.test())} AS t FROM sales{a.where()} GROUP BY tid"


def flagged_numbers(a: Analyst) -> Asked:
    def number() -> str:
        return a.one(
            "sum(f0)", "avg(f0)", "sum(f0 * f1)", "count(*) FILTER (WHERE f0 = 1 AND f1 = 0)", "count(*) FILTER (WHERE t)",
            "sum(CASE WHEN f0 = 1 AND t THEN 1 ELSE 0 END)", "count(*)", "sum(f0 * f1) * 1.0 / nullif(sum(f1), 0)",
            "count_if(f0 > 0)", "sum(t::INTEGER)", "count_if(f0 <> f1)", "count_if(t = false)", "count_if(t = (f0 = 1))",
            "covar_pop(f0, f1)", "covar_samp(f1, f0)", "covar_pop(f0, f1) FILTER (WHERE t)",
        )  # fmt: skip

    where = a.one("", "", " WHERE f0 = 1", " WHERE t AND f1 >= 1", " WHERE NOT t", " WHERE f0 < 1 OR t", " WHERE f1 <> 0")
    return Asked(a.numbers(number), f"FROM p{where}", f"WITH p AS ({_of_persons(a)})")


def flagged_groups(a: Analyst) -> Asked:
    keys = a.one("f0 AS k0", "t AS k0", "f0 AS k0, f1 AS k1", "f0 AS k0, t AS k1", "f0 = 1 AS k0").split(", ")
    number = a.one(
        "count(*) AS c0", "count(DISTINCT tid) AS c0", "sum(f1) AS n0", "sum(f0 * f1) / nullif(sum(f1), 0) AS n0",
        "sum(f1 * 2 - f0) / sum(f1) AS n0", "sum(f0) / sum(f1) AS n0",
    )  # fmt: skip
    group = ", ".join(key.rsplit(" AS ", 1)[0] for key in keys)
    having = a.one("", "", " HAVING sum(f1) > 0", " HAVING count(*) > 1") if number.endswith("n0") else ""
    return Asked((*keys, number), f"FROM ({_of_persons(a)}) q GROUP BY {group}{having}", filtered=bool(having))


def flagged_persons(a: Analyst) -> Asked:
    test = _truth(a, a.test())
    if a.rnd.random() < 0.5:
        test = a.one(f"{test} AND {_truth(a, a.test())}", f"{test} OR {_truth(a, a.test())}", f"NOT ({test})")
    return Asked(("count(*) AS c0",), f"FROM (SELECT tid FROM sales{a.where()} GROUP BY tid HAVING {test}) q")


def _with_nulls(a: Analyst) -> str:
    """A table of prices, some of which are NULL."""
    rows = ", ".join(f"({literal(item)}, {a.one('NULL', '1.0', '2.5')})" for item in a.held)
    return f"(VALUES {rows}, ('ghost', 0.5)) AS np(item, price)"


def points(a: Analyst) -> Asked:
    """Sums of a number of each item, by CASE."""
    test = a.test()
    value = a.one(
        f"CASE WHEN {test} THEN 2 ELSE 1 END", f"CASE WHEN {test} THEN 1.5 WHEN {a.test()} THEN -1 ELSE 0 END",
        f"CASE item WHEN {a.item()} THEN 3 WHEN {a.item()} THEN 2 ELSE 1 END", f"if({test}, 0, 2) + 1",
    )  # fmt: skip
    inner = (
        f"SELECT tid, sum({value}) AS v, sum(CASE WHEN {test} THEN 1 ELSE -1 END) AS w FROM sales{a.where()} GROUP BY tid"
    )
    if a.rnd.random() < 0.5:
        number = a.one("avg(v)", "sum(v)", "max(v)", "min(v)", "avg(w)", "count(*)")
        return Asked((f"{number} AS {'c' if number == 'count(*)' else 'n'}0",), f"FROM ({inner}) q")
    least = a.one("0", "1", "2.5", "4")
    return Asked(("count(*) AS c0",), f"FROM ({inner} HAVING sum({value}) {a.one('>', '>=', '<', '=')} {least}) q")


def flagged_tables(a: Analyst) -> Asked:
    """Conditions on the columns of joined tables."""
    if a.rnd.random() < 0.4:
        column, number = a.one("min", "max"), a.one("1", "0.5", "2.0", "-1")
        test = f"{column}(price) {a.one('>', '>=', '<', '<=', '=')} {number}"
        test = a.one(test, f"sum((price > {number})::INTEGER) = 0", f"coalesce({test}, true)", f"({test}) IS NOT TRUE")
        table = a.one("prices", "prices", _with_nulls(a))
        inner = f"FROM sales {a.one('', 'LEFT ')}JOIN {table} USING (item) GROUP BY tid HAVING {a.one('', 'NOT ')}({test})"
        return Asked(("count(*) AS c0",), f"FROM (SELECT tid {inner}) q")
    parents = a.rnd.choices(a.parents, k=2)
    one, two = (f"parent = '{parent}'" for parent in parents)
    columns = f"{_one(a, one)} AS f, {_truth(a, two)} AS t"
    inner = f"SELECT tid, {columns} FROM sales JOIN food ON item = node GROUP BY tid"
    number = a.one("sum(f)", "count(*) FILTER (WHERE f = 1 AND t)", "count_if(t)", "count(*) FILTER (WHERE NOT t)")
    return Asked((f"{number} AS n0",), f"FROM ({inner}) q")


def categories(a: Analyst) -> Asked:
    """Pairs of categories."""
    test = a.one("x.parent < y.parent", "x.parent <> y.parent", "x.parent <= y.parent")
    rest = f"FROM sales s JOIN sales u ON s.tid = u.tid JOIN food x ON s.item = x.node JOIN food y ON u.item = y.node WHERE {test}"
    return Asked(
        ("x.parent AS k0", "y.parent AS k1", "count(DISTINCT s.tid) AS c0"),
        f"{rest} GROUP BY {a.one('1, 2', 'x.parent, y.parent')}",
    )


def attribute_counts(a: Analyst) -> Asked:
    """Persons by the number of their rows, which a subquery counts."""
    more = a.one("", f" AND {a.test('s.item')}")
    number = f"(SELECT count(*) FROM sales s WHERE s.tid = r.tid{more})"
    n, sign = a.rnd.randint(0, 3), a.one(">", ">=", "<", "<=", "=", "<>")
    test = a.one(f"{number} {sign} {n}", f"{n} {sign} {number}")
    value = a.one("", f" AND {a.value('r')}")
    return Asked(("count(*) AS c0",), f"FROM records r WHERE {test}{value}")

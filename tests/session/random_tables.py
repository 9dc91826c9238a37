# ruff: noqa: E501
"""Random queries on sizes, on pairs, on own tables and on the attributes of persons, by kind."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked
from session.random_releases import literal


def priced(a: Analyst) -> Asked:
    shape = a.rnd.random()
    join = a.one("JOIN prices USING (item)", "JOIN prices ON sales.item = prices.item", "LEFT JOIN prices USING (item)")
    if shape < 0.3:
        columns = a.numbers(
            lambda: a.one(
                "sum(price)", "avg(price)", "count(*)", "max(price)", "count(DISTINCT tid)", "count(price)",
                f"count(DISTINCT tid) FILTER (WHERE {_of_price(a)})", f"count_if({_of_price(a)})", "sum(price * 2 + 1)",
            ), 2
        )  # fmt: skip
        test = a.one("", f" WHERE {a.test('sales.item')}", *(f" WHERE {_of_price(a)}" for _ in range(3)))
        if a.rnd.random() < 0.3:
            return Asked(("price AS k0", "count(DISTINCT tid) AS c0"), f"FROM sales {join}{test} GROUP BY price")
        return Asked(columns, f"FROM sales {join}{test}")
    if shape < 0.5:
        inner = f"SELECT tid, sum(price) AS v FROM sales {join} GROUP BY tid"
        return Asked(
            a.numbers(
                lambda: a.one(
                    "avg(v)",
                    "sum(v)",
                    "max(v)",
                    "min(v)",
                    "count(*)",
                    "median(v)",
                    "quantile_cont(v, 0.9)",
                    "stddev(v)",
                    "var_pop(v)",
                ),
                2,
            ),
            f"FROM ({inner})",
        )
    if shape < 0.65:
        test = a.one(
            "sum(price) > 3", "sum(price) <= 2", "max(price) >= 2", "sum(price) = 0", "avg(price) > 1", "sum(price) = 0.8",
            "sum(price) >= 1.1", "sum(price) IS NULL", "count(*) > 1", "bool_or(price > 1)", "NOT bool_or(price > 1)",
            "bool_and(price < 2)", f"bool_or({_of_price(a)})",
        )  # fmt: skip
        return Asked(("count(*) AS c0",), f"FROM (SELECT tid FROM sales {join} GROUP BY tid HAVING {test})")
    if shape < 0.85 and not a.repeated:
        inner = f"SELECT item, {a.counting()} AS n FROM sales{a.where()} GROUP BY item"
        columns = ("q.item AS k0", "n * price AS n0", "n AS n1")
        return Asked(columns, f"FROM ({inner}) q {a.one('JOIN', 'LEFT JOIN')} prices USING (item)")
    number = a.one("sum(n * price)", "sum(n)", "max(n * price)", "avg(price)")
    return Asked((f"{number} AS n0",), "FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN prices USING (item)")


def _of_price(a: Analyst) -> str:
    """A condition on the price of a row."""
    one = a.one("price > 1", "price < 0.7", "price = 0.1", "price IS NULL", "coalesce(price, 0) > 0.5", "price IN (0.5, 2)")
    other = a.one("price < 2.5", a.test("sales.item"), "price IS NOT NULL")
    return a.one(one, one, f"{one} AND {other}", f"{one} OR {other}", f"NOT ({one})", f"NOT ({one} OR {other})")


def categories(a: Analyst) -> Asked:
    parent, shape = literal(a.rnd.choice(a.parents)), a.rnd.random()
    if shape < 0.5:
        columns = ("parent AS k0", *a.numbers(lambda: a.counting("sales.item"), 2))
        return Asked(columns, f"FROM sales JOIN food ON item = node{a.where()} GROUP BY parent")
    if shape < 0.8:
        test = a.one(
            f"JOIN food ON item = node WHERE parent = {parent}", f"JOIN food f ON f.node = sales.item AND parent = {parent}"
        )
        return Asked(a.numbers(a.counting, 2), f"FROM sales {test}")
    test = f"item {a.one('', 'NOT ')}IN (SELECT node FROM food WHERE parent = {parent})"
    return Asked(a.numbers(a.counting, 2), f"FROM sales WHERE {test}")


def sizes(a: Analyst) -> Asked:
    having = f" HAVING {a.having()}" if a.rnd.random() < 0.3 else ""
    inner = f"SELECT tid, {a.one('count(*)', 'count(DISTINCT item)', f'count_if({a.test()})')} AS n FROM sales{a.where()} GROUP BY tid{having}"
    if a.rnd.random() < 0.3:
        return Asked(("n AS k0", "count(*) AS c0"), f"FROM ({inner}) GROUP BY n")
    numbers = a.numbers(
        lambda: a.one(
            "avg(n)",
            "sum(n)",
            "max(n)",
            "min(n)",
            "count(*)",
            "count_if(n > 2)",
            "sum(n * n)",
            "median(n)",
            "stddev(n)",
            "stddev_pop(n)",
            "var_samp(n)",
            "var_pop(n)",
            "quantile_disc(n, 0.3)",
        )
    )
    return Asked(numbers, f"FROM ({inner}){a.one('', '', ' WHERE n > 1', ' WHERE n = 2')}")


def pairs(a: Analyst) -> Asked:
    """Pairs of items, of all persons or of some."""
    where = a.one("", f" WHERE {a.test('a.item')}", f" WHERE {a.test('a.item')} AND {a.test('b.item')}")
    return _pairs(a, "", a.one(where, where, f" WHERE a.tid {a.one('', 'NOT ')}IN ({a.ids(1)})"))


def attribute_pairs(a: Analyst) -> Asked:
    """Pairs of items of the persons whose attributes meet a condition."""
    more = a.one("", f" AND {a.test('a.item')}", f" AND a.tid {a.one('', 'NOT ')}IN ({a.ids(1)})")
    return _pairs(a, " JOIN records r ON r.tid = a.tid", f" WHERE {a.value('r')}{more}")


def _pairs(a: Analyst, joined: str, where: str) -> Asked:
    join = f"FROM sales a JOIN sales b ON a.tid = b.tid AND a.item {a.one('<', '<', '<>')} b.item{joined}"
    if a.rnd.random() < 0.3:
        return Asked(("count(*) AS n0",), join + where)
    having = f" HAVING count(*) >= {a.rnd.randint(1, 5)}" if a.rnd.random() < 0.3 else ""
    chosen = a.one("", "", f" FILTER (WHERE {a.value('r') if joined else a.test(a.one('a.item', 'b.item'))})")
    columns = ("a.item AS k0", "b.item AS k1", f"{a.one('count(*)', 'count(DISTINCT a.tid)')}{chosen} AS c0")
    limit = a.ordered("c0", "3") if a.rnd.random() < 0.5 and not having else ""
    return Asked(columns, f"{join}{where} GROUP BY a.item, b.item{having}", filtered=bool(having), limit=limit)


def beside(a: Analyst) -> Asked:
    """Rows of own tables beside numbers of persons, also where there are none: LEFT JOIN, and subqueries."""
    key = a.one("p.price", "p.item", "p.price > 2", "p.item, p.price", "upper(p.item)")
    where = a.one("", "", " WHERE p.price > 1", " WHERE p.item < 'c'")
    chosen = a.one("", f" AND {a.test('s.item')}")
    if a.rnd.random() < 0.5:
        number = a.numbers(
            lambda: a.one(
                "count(s.tid)", "count(DISTINCT s.tid)", "count(s.item)", "count(DISTINCT s.item)",
                "count(s.tid) * 2 + 1", f"count(s.tid) FILTER (WHERE {a.test('s.item')})",
            ), 2
        )  # fmt: skip
        keys = tuple(f"{one} AS k{n}" for n, one in enumerate(key.split(", ")))
        having = a.one("", "", f" HAVING count(s.tid) > {a.rnd.randint(0, 3)}")
        source = f"FROM prices p LEFT JOIN sales s ON s.item = p.item{chosen}{where}"
        return Asked((*keys, *number), f"{source} GROUP BY {key}{having}", filtered=bool(having))
    inner = f"SELECT s.item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales s WHERE true{chosen} GROUP BY s.item"
    inner += a.one("", "", " HAVING count(*) > 1", " HAVING count(*) > 2")
    number = a.one("coalesce(q.n, 0)", "coalesce(q.n, 0) * 2", "coalesce(q.n, -1)", "q.n", "coalesce(q.n + 1, 0)")
    join = f"FROM (SELECT DISTINCT item FROM prices) p LEFT JOIN ({inner}) q {a.one('USING (item)', 'ON q.item = p.item')}"
    if a.rnd.random() < 0.5:
        kept = a.one("", "", f" WHERE coalesce(q.n, 0) > {a.rnd.randint(0, 2)}", " WHERE q.n IS NULL", " WHERE q.n > 1")
        return Asked(("p.item AS k0", f"{number} AS n0"), f"{join}{kept}", filtered=bool(kept))
    how = a.one("sum", "max", "min", "avg", "count")
    return Asked((f"{how}({number}) AS {'c' if how == 'count' else 'n'}0", "count(*) AS c1"), join)


def attributes(a: Analyst) -> Asked:
    columns = a.numbers(
        lambda: a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.value()})", f"count_if({a.value()})")
    )
    if a.rnd.random() < 0.5:
        return Asked(columns, f"FROM records{a.one('', f' WHERE {a.value()}')}")
    where = a.one(f"{a.test()} AND {a.value()}", a.value(), f"{a.test()} OR {a.value()}")
    return Asked(columns, f"FROM sales JOIN records USING (tid) WHERE {where}")


def attribute_groups(a: Analyst) -> Asked:
    key = a.one(
        "town",
        "town",
        "age",
        "day",
        "age // 10 * 10",
        "dayname(day)",
        "age >= 25",
        "date_trunc('month', day)",
        "age IS NULL",
    )
    where = a.one("", f" WHERE {a.value()}")
    columns = (
        f"{key} AS k0",
        *a.numbers(
            lambda: a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.value()})", "count(*) * 2"), 2
        ),
    )
    if a.rnd.random() < 0.5:
        return Asked(columns, f"FROM records{where} GROUP BY {key}")
    if a.rnd.random() < 0.3:
        return Asked(("item AS k0", *columns[1:]), f"FROM sales JOIN records USING (tid) WHERE {a.value()} GROUP BY item")
    return Asked(columns, f"FROM sales JOIN records USING (tid) WHERE {a.test()} GROUP BY {key}")


def attribute_averages(a: Analyst) -> Asked:
    number = a.one(
        "avg(age)",
        "median(age)",
        "stddev(age)",
        "var_pop(age)",
        "min(day)",
        "quantile_disc(age, 0.25)",
        "sum(age)",
        "min(age)",
        "max(age)",
        "count(age)",
        "count(DISTINCT town)",
        "count(DISTINCT age)",
        "max(day)",
        "count(town)",
    )
    where = a.one("", f" WHERE {a.value()}", f" WHERE tid IN ({a.ids(1)})")
    if a.rnd.random() < 0.3:
        return Asked(("town AS k0", f"{number} AS n0"), f"FROM records{where} GROUP BY town")
    return Asked((f"{number} AS n0",), f"FROM records{where}")


def attribute_shares(a: Analyst) -> Asked:
    """Averages, extremes, sums and shares of groups that need not exist: they hold where these do."""
    value, n, least = a.value(), a.rnd.randint(0, 3), a.one("count(*)", "nullif(count(*), 0)", "sum(1)")
    numbers = a.numbers(
        lambda: a.one(
            "avg(age)", "min(age)", "median(age)", "sum(1)", "sum(age)", "avg(age - 2)", "max(-age)",
            f"count(*) FILTER (WHERE {value}) * 100.0 / {least}", f"avg(CASE WHEN {value} THEN 1 ELSE 0 END)",
            f"sum(CASE WHEN {value} THEN 2 ELSE 1 END) / {least}", f"avg(age) FILTER (WHERE {value})",
            f"count(DISTINCT tid)::DOUBLE / {least} + 1", f"avg(CASE WHEN {value} THEN age END)", f"{n} / {least}",
        ),
        2,
    )  # fmt: skip
    where = a.one("", f" WHERE {a.value()}")
    joined = "sales JOIN records USING (tid)"
    key, source = a.rnd.choice(
        [("town", "records"), ("day", "records"), ("age // 10", "records"), ("item", joined), ("town", joined)]
    )
    having = a.one("", "", f" HAVING {least} > {n}")
    if a.rnd.random() < 0.8:
        return Asked(
            (f"{key} AS k0", *numbers), f"FROM {source}{where} GROUP BY {key}{having}", filtered=bool(having) and n > 0
        )
    inner = f"SELECT {', '.join(numbers)} FROM {source}{where} GROUP BY {key}"
    outer = (f"{a.one('min', 'max', 'avg')}({name}) AS n{name[1:]}" for name in (n.split()[-1] for n in numbers))
    return Asked(tuple(outer), f"FROM ({inner})")


def attribute_persons(a: Analyst) -> Asked:
    r = "r"
    test = a.one(
        f"{a.value(r)} AND {a.one('', 'NOT ')}EXISTS (SELECT 1 FROM sales s WHERE s.tid = r.tid AND {a.test('s.item')})",
        f"r.tid {a.one('', 'NOT ')}IN ({a.ids(1)})", f"r.tid NOT IN (SELECT tid FROM sales) OR {a.value(r)}",
    )  # fmt: skip
    if a.rnd.random() < 0.3:
        on = a.one("", f" AND {a.test('s.item')}")
        where = a.one(" WHERE s.tid IS NULL", "", f" WHERE s.tid IS NULL AND {a.value(r)}", f" WHERE {a.value(r)}")
        counted = a.one("count(*)", "count(DISTINCT r.tid)", "count(s.tid)", "count(DISTINCT s.tid)")
        return Asked((f"{counted} AS c0",), f"FROM records r LEFT JOIN sales s ON s.tid = r.tid{on}{where}")
    if a.rnd.random() < 0.3:
        return Asked(("r.town AS k0", "count(*) AS c0"), f"FROM records r WHERE {test} GROUP BY r.town")
    return Asked(("count(*) AS c0",), f"FROM records r WHERE {test}")

# ruff: noqa: E501
"""Random queries with a row for each item, or over such a listing, by kind."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def results(a: Analyst) -> Asked:
    """CTEs of results, and joins of results."""
    one, two = (f"SELECT {a.number()} AS n, count(*) AS m FROM sales{a.where()}" for _ in range(2))
    before = f"WITH p AS ({one}), q AS ({two})"
    if a.rnd.random() < 0.5:
        expression = a.arithmetic(lambda: a.one("p.n", "q.n", "p.m", "q.m"))
        return Asked((f"{expression} AS n0", "q.m AS n1"), f"FROM {a.one('p, q', 'p CROSS JOIN q')}", before)
    one = f"SELECT item, {a.counting()} AS n FROM sales{a.where()} GROUP BY item"
    two = f"SELECT item, {a.counting()} AS n FROM sales GROUP BY item"
    join = a.one("JOIN", "LEFT JOIN")
    before, columns = f"WITH p AS ({one}), q AS ({two})", ("p.item AS k0", "p.n AS n0", "q.n - p.n AS n1")
    return Asked(columns, f"FROM p {join} q USING (item)", before)


def listing(a: Analyst) -> Asked:
    return Asked(("item AS k0", *a.numbers(a.number)), f"FROM sales{a.where()} GROUP BY {a.one('item', 'ALL')}")


def listing_persons(a: Analyst) -> Asked:
    columns = ("x.item AS k0", *a.numbers(lambda: a.counting("x.item", "x.tid"), 2))
    return Asked(columns, f"FROM sales x WHERE {a.person('x', 1)} GROUP BY x.item")


def listing_arithmetic(a: Analyst) -> Asked:
    return Asked(("item AS k0", *a.numbers(lambda: a.arithmetic(a.number), 2)), f"FROM sales{a.where()} GROUP BY item")


def listing_conditions(a: Analyst) -> Asked:
    columns = ("item AS k0", f"{a.condition(a.number)} AS b0", "count(*) AS c0")
    return Asked(columns, f"FROM sales{a.where()} GROUP BY item")


def having(a: Analyst) -> Asked:
    rest = f"FROM sales{a.where()} GROUP BY item HAVING {a.condition(a.number)}"
    return Asked(("item AS k0", *a.numbers(a.number, 2)), rest, filtered=True)


def filtered(a: Analyst) -> Asked:
    inner = f"SELECT item, {a.number()} AS n, {a.number()} AS m FROM sales{a.where()} GROUP BY item"
    test = a.condition(lambda: a.one("n", "m"))
    return Asked(("item AS k0", "n AS n0", "n + m AS n1"), f"FROM ({inner}) WHERE {test}", filtered=True)


def groupings(a: Analyst) -> Asked:
    label = a.labelled()
    having = f" HAVING {a.condition(a.counting)}" if a.rnd.random() < 0.3 else ""
    rest = f"FROM sales{a.where()} GROUP BY {label}{having}"
    return Asked((f"{label} AS k0", *a.numbers(a.number)), rest, filtered=bool(having))


def nested(a: Analyst) -> Asked:
    having = f" HAVING {a.condition(a.counting)}" if a.rnd.random() < 0.5 else ""
    inner = f"SELECT item, {a.number()} AS n, count(*) AS m FROM sales{a.where()} GROUP BY item{having}"
    outer = f" WHERE {a.condition(lambda: a.one('n', 'm'))}" if a.rnd.random() < 0.3 else ""

    def number() -> str:
        return a.one(
            "count(*)", "sum(n)", "max(n)", "min(n)", "avg(n)", "sum(n + m)", "count(n)", "max(m) - min(m)", "sum(n * m)",
            "count(*) FILTER (WHERE n > 3)", "sum(n) FILTER (WHERE m < 5)", "sum(CASE WHEN n >= 4 THEN m ELSE 0 END)",
            "count_if(m > 6)", f"sum(n) FILTER (WHERE {a.test()})", "sum(n) / sum(m)", "count(DISTINCT item)",
            f"max(CASE WHEN {a.test()} THEN n END)", "avg(n * 1.0 / m)", "count(DISTINCT n)", "bool_or(n > 5)::INTEGER",
        )  # fmt: skip

    return Asked(a.numbers(number), f"FROM ({inner}){outer}")


def nested_groups(a: Analyst) -> Asked:
    inner = f"SELECT item, {a.number()} AS n FROM sales{a.where()} GROUP BY item"
    number = a.one("count(*) AS c0", "sum(n) AS n0", "max(n) AS n0", "min(n) AS n0", "avg(n) AS n0")
    label = a.labelled()
    return Asked((f"{label} AS k0", number), f"FROM ({inner}) GROUP BY {label}")


def ordered(a: Analyst) -> Asked:
    columns = ("item AS k0", f"{a.number()} AS n0", f"{a.counting()} AS c1")
    return Asked(columns, f"FROM sales{a.where()} GROUP BY item", limit=a.ordered("n0", "2", "k0", "count(*)", "c1"))


def tops(a: Analyst) -> Asked:
    """Aggregates over the largest of a listing, or over those that a rank or another count chooses."""
    number = a.one("sum(n) AS n0", "min(n) AS n0", "max(n) AS n0", "avg(n) AS n0", "count(*) AS c0")
    listed = f"SELECT item, {a.counting()} AS n FROM sales{a.where()} GROUP BY item"
    chosen = a.one(
        f"{listed} ORDER BY n{a.one('', ' DESC')} LIMIT {a.rnd.randint(1, 4)}",
        f"{listed} QUALIFY rank() OVER (ORDER BY n DESC) <= {a.rnd.randint(1, 3)}",
        f"SELECT * FROM ({listed}) WHERE n >= (SELECT avg(n) FROM ({listed}))",
        f"SELECT * FROM ({listed}) WHERE n = (SELECT max(n) FROM ({listed}))",
        f"SELECT item, n FROM (SELECT *, rank() OVER (ORDER BY n DESC) AS r FROM ({listed})) WHERE r <= 2",
    )
    return Asked((number,), f"FROM ({chosen})")


def chosen_items(a: Analyst) -> Asked:
    """Conditions on items by what is known of the items."""
    counted = f"SELECT item, {a.counting()} AS n FROM sales{a.where()} GROUP BY item"
    cut = f"ORDER BY n{a.one('', ' DESC')} LIMIT {a.rnd.randint(0, 4)}"
    many = a.one(
        f"SELECT item FROM sales{a.where()} GROUP BY item HAVING {a.condition(a.counting)}",
        f"SELECT item FROM ({counted}) {cut}",
        f"WITH first AS ({counted} {cut}) SELECT item FROM first",
    )
    others = f"item IN (SELECT item FROM sales{a.where()})"
    test = a.one(f"item IN ({many})", f"item NOT IN ({many})", others)
    if a.rnd.random() < 0.5:
        return Asked(a.numbers(a.counting, 2), f"FROM sales WHERE {test}")
    columns = ("item AS k0", *a.numbers(a.counting, 2))
    return Asked(columns, f"FROM sales WHERE {test} GROUP BY item", filtered=True)


def listed_sets(a: Analyst) -> Asked:
    """Sets of listed items."""
    one, two = (
        a.one(
            f"SELECT item FROM sales{a.where()} GROUP BY item HAVING {a.condition(a.counting)}",
            f"SELECT DISTINCT item FROM sales{a.where()}",
            f"SELECT item FROM sales{a.where()}",
            f"SELECT {a.one('item FROM prices', 'node FROM food')}",
        )
        for _ in range(2)
    )
    kind = a.one("UNION", "EXCEPT", "INTERSECT")
    if a.rnd.random() < 0.5:
        return Asked(("count(*) AS c0",), f"FROM ({one} {kind} {two})")
    return Asked(("item AS k0",), f"FROM ({one} {kind} {two})", filtered=True)


def kept_items(a: Analyst) -> Asked:
    """Items that some transactions hold together with others, or never do."""
    joined = f"FROM sales x JOIN sales y ON x.tid = y.tid WHERE {a.test('x.item')}"
    test = a.one(
        f"item {a.one('', 'NOT ')}IN (SELECT y.item {joined})",
        f"item NOT IN (SELECT item FROM sales{a.where()})",
        f"{a.one('', 'NOT ')}EXISTS (SELECT 1 {joined} AND y.item = s.item)",
    ) + a.one("", f" AND {a.test()}")
    if a.rnd.random() < 0.3:
        return Asked(("count(DISTINCT item) AS c0",), f"FROM sales s WHERE {test}")
    if a.rnd.random() < 0.3:
        return Asked(("DISTINCT item AS k0",), f"FROM sales s WHERE {test}", filtered=True)
    having = f" HAVING {a.condition(a.counting)}" if a.rnd.random() < 0.2 else ""
    return Asked(
        ("item AS k0", *a.numbers(a.counting, 2)), f"FROM sales s WHERE {test} GROUP BY item{having}", filtered=True
    )


def chosen_persons(a: Analyst) -> Asked:
    """Persons by items that counts choose."""
    cut = f"ORDER BY count(*){a.one('', ' DESC')} LIMIT {a.rnd.randint(0, 4)}"
    many = a.one(f"GROUP BY item HAVING {a.condition(a.counting)}", f"GROUP BY item {cut}")
    ids = f"SELECT tid FROM sales WHERE {a.one('', 'NOT ')}item IN (SELECT item FROM sales{a.where()} {many})"
    test = f"tid {a.one('', 'NOT ')}IN ({ids}{a.one('', f' AND {a.test()}')})"
    return Asked(a.numbers(a.counting, 2), f"FROM sales WHERE {test}{a.one('', f' AND {a.test()}')}")


def windows(a: Analyst) -> Asked:
    over, part = a.one("sum(count(*)) OVER ()", "max(count(*)) OVER ()", "min(count(*)) OVER ()"), a.counting()
    columns = [
        f"{part} * 100.0 / {over} AS n0", f"{over} AS n1", "count(*) OVER () AS n2", "avg(count(*)) OVER () AS n5",
        "count(*) - lag(count(*), 1, 0) OVER (ORDER BY item) AS n3", "sum(count(*)) OVER (ORDER BY item) AS n4",
        f"rank() OVER (ORDER BY {part} DESC) AS r0", "row_number() OVER (ORDER BY count(*) DESC) AS r1",
        f"sum({part}) OVER (PARTITION BY left(item, 1)) AS n6", f"lag({part}) OVER (ORDER BY item DESC) AS n7",
        f"{part} - lead({part}) OVER (PARTITION BY length(item) ORDER BY item) AS n8",
    ]  # fmt: skip
    having = f" HAVING {a.condition(a.counting)}" if a.rnd.random() < 0.2 else ""
    chosen = a.rnd.sample(columns, a.rnd.randint(1, 2))
    return Asked(("item AS k0", *chosen), f"FROM sales{a.where()} GROUP BY item{having}", filtered=bool(having))


def qualified(a: Analyst) -> Asked:
    rest = f"FROM sales{a.where()} GROUP BY item"
    limit = f"QUALIFY {a.one('rank()', 'row_number()')} OVER (ORDER BY count(*) DESC) <= {a.rnd.randint(1, 4)}"
    return Asked(("item AS k0", "count(*) AS n0"), rest, limit=limit)


def distinct(a: Analyst) -> Asked:
    if a.rnd.random() < 0.4:
        return Asked(("count(*) AS c0",), f"FROM (SELECT DISTINCT item FROM sales{a.where()})")
    return Asked((f"DISTINCT {a.one('item', 'item', 'lower(item)')} AS k0",), f"FROM sales{a.where()}")


def odd(a: Analyst) -> Asked:
    """Seldom used forms."""
    item, number = a.item(), a.counting()
    return a.rnd.choice([
        Asked((f"{number} AS c0",), f"FROM sales{a.where()} HAVING {a.condition(a.counting)}", filtered=True),
        Asked(("item AS k0", "count(*) AS c0"), f"FROM sales{a.where()} GROUP BY GROUPING SETS ((item), ())"),
        Asked(("item AS k0", "count(*) AS c0"), f"FROM sales{a.where()} GROUP BY ROLLUP (item)"),
        Asked(("item AS k0", f"{number} AS c0"), "FROM sales GROUP BY item", limit=f"ORDER BY item LIMIT 3 OFFSET {a.rnd.randint(0, 2)}"),
        Asked(('"sales"."ITEM" AS k0', "COUNT(*) AS c0"), 'FROM "sales" GROUP BY "sales"."ITEM"'),
        Asked(("s.item AS k0", "count(s.tid) AS c0"), f"FROM main.sales AS s WHERE s.item = {item} GROUP BY 1"),
        Asked(("k0", "n0"), f"FROM (SELECT item AS k0, {number} AS n0 FROM sales{a.where()} GROUP BY item UNION ALL SELECT 'all', count(*) FROM sales)"),
        Asked(("k0", "sum(n) AS n0"), f"FROM (SELECT item AS k0, {number} AS n FROM sales{a.where()} GROUP BY item UNION ALL SELECT item, count(*) FROM sales GROUP BY item) GROUP BY k0"),
        Asked(("median(n) AS n0",), f"FROM (SELECT item, {number} AS n FROM sales{a.where()} GROUP BY item)"),
        Asked(("count(*) AS c0",), f"FROM (SELECT DISTINCT n FROM (SELECT item, {number} AS n FROM sales GROUP BY item))"),
        Asked(("n AS k0", "count(*) AS c0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) GROUP BY n"),
        Asked(("(SELECT count(*) FROM sales s WHERE s.item = q.item) AS n0", "q.item AS k0"), "FROM (SELECT DISTINCT item FROM sales) q"),
        Asked(("count(*) AS c0",), f"FROM sales a, sales b WHERE a.tid = b.tid AND a.item = {item} AND {a.test('b.item')}"),
        Asked(("sum(p.n * q.n) AS n0",), "FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) p JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) q ON p.item <> q.item"),
        Asked(("p.item AS k0", "q.item AS k1", "p.n - q.n AS n0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) p JOIN (SELECT item, count(*) AS n FROM sales{a.where()} GROUP BY item) q ON p.n > q.n", filtered=True),
        Asked(("p.item AS k0", "q.n AS n0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) p LEFT JOIN (SELECT item, count(*) AS n FROM sales{a.where()} GROUP BY item HAVING count(*) > 3) q ON p.item = q.item"),
        Asked(("p.item AS k0",), f"FROM (SELECT DISTINCT item FROM sales) p ANTI JOIN (SELECT item FROM sales{a.where()} GROUP BY item HAVING count(*) > 3) q ON p.item = q.item", filtered=True),
        Asked(("p.item AS k0",), f"FROM (SELECT DISTINCT item FROM sales) p WHERE NOT EXISTS (SELECT 1 FROM sales q WHERE q.item = p.item AND q.tid IN ({a.ids(0)}))", filtered=True),
        Asked((f"{number} AS c0", f"{number} * (SELECT count(*) FROM sales) AS n1"), f"FROM sales{a.where()} ORDER BY 1 LIMIT 1"),
        Asked(("item AS k0", f"count(*) FILTER (WHERE tid IN ({a.ids(0)})) AS c0"), "FROM sales GROUP BY item"),
        Asked((f"count(*) FILTER (WHERE tid IN ({a.ids(1)})) AS c0", f"count(DISTINCT tid) FILTER (WHERE tid NOT IN ({a.ids(0)})) AS c1"), "FROM sales"),
    ])  # fmt: skip

# ruff: noqa: E501
"""Random queries of places in an order: rows that windows number, rows up to each, and EXISTS of rows with other values."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked

_JOINED = "sales s JOIN prices p ON p.item = s.item"


def _persons(a: Analyst) -> str:
    """Persons with a number of their items."""
    of_prices = a.one("sum(price)", "max(price)", "count(price)")
    rows, number = a.one(
        f"sales{a.where()} |count(*)",
        f"sales{a.where()} |count(DISTINCT item)",
        f"sales JOIN prices USING (item) |{of_prices}",
    ).split("|")
    return f"SELECT tid, {number} AS n FROM {rows}GROUP BY tid"


def places_of_numbers(a: Analyst) -> Asked:
    """How many persons have a number up to each that occurs."""
    sign, down = a.one("<=", "<", ">=", ">"), a.one("", " DESC")
    before = f"WITH p AS ({_persons(a)})"
    how = a.rnd.randint(0, 4)
    if how == 0:
        count = a.one("count(DISTINCT b.tid) AS n1", "max(b.n) AS n1", "count(DISTINCT b.n) AS n1")
        return Asked(("a.n AS k0", count), f"FROM p a JOIN p b ON b.n {sign} a.n GROUP BY a.n", before)
    if how == 1:
        source, join = a.one("(SELECT DISTINCT n FROM p) a", "(SELECT n FROM p GROUP BY n) a"), a.one("JOIN", "LEFT JOIN")
        columns = (
            "a.n AS k0",
            a.one("count(b.tid) AS n1", "sum(b.n) AS n1", "count(b.n) * 1.0 / (SELECT count(*) FROM p) AS n1"),
        )
        return Asked(columns, f"FROM {source} {join} p b ON b.n {sign} a.n GROUP BY a.n", before)
    if how == 2:
        window = a.one("cume_dist()", "percent_rank()", "rank()", "count(*)")
        return Asked(("DISTINCT n AS k0", f"{window} OVER (ORDER BY n{down}) AS n1"), "FROM p", before)
    if how == 3:
        columns = ("n AS k0", f"sum(count(*)) OVER (ORDER BY n{down}) AS n1", "count(*) AS c2")
        return Asked(columns, f"FROM p{a.one('', ' WHERE n > 1')} GROUP BY n", before)
    columns = ("k AS k0", f"(SELECT count(*) FROM p WHERE p.n {sign} k) AS n1")
    return Asked(columns, f"FROM range(0, {a.rnd.randint(2, 6)}) r(k)", before)


def numbered_rows(a: Analyst) -> Asked:
    """The greatest numbers of rows, first rows, and rows whose number follows from that of all."""
    how, order = a.rnd.randint(0, 3), a.one("item", "tid", "item DESC, tid")
    rows = a.one("sales", f"sales{a.where()}", "sales JOIN prices USING (item)")
    if how == 0:
        key, number = (
            a.one("item", "tid"),
            a.one(
                f"row_number() OVER (PARTITION BY KEY ORDER BY {order})",
                "dense_rank() OVER (PARTITION BY KEY ORDER BY length(item))",
            ),
        )
        inner = f"SELECT {key}, {number.replace('KEY', key)} AS r FROM {rows}"
        if key == "tid":
            return Asked(
                ("k AS k0", "count(*) AS c1"), f"FROM (SELECT tid, max(r) AS k FROM ({inner}) GROUP BY tid) GROUP BY k"
            )
        return Asked(("item AS k0", "max(r) AS n1"), f"FROM ({inner}) GROUP BY item")
    if how == 1:
        keys = a.one("item", "tid", "tid, length(item)")
        inner = f"SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY {order}) {a.one('= 1', '<= 1')} AS f FROM {rows}"
        return Asked(("count(*) FILTER (WHERE f) AS n0", "count(DISTINCT tid) AS n1", "count(*) AS n2"), f"FROM ({inner})")
    share = a.one("0.5", "0.25", "0.9", "0.1")
    numbered = f"SELECT n, row_number() OVER (ORDER BY n) AS r, count(*) OVER () AS t, cume_dist() OVER (ORDER BY n) AS c FROM ({_persons(a)})"
    if a.rnd.random() < 0.3:
        groups = f"SELECT n, count(*) AS c FROM ({_persons(a)}) GROUP BY n"
        met = a.one("r * 10 >= t * 9", "r >= 0.5 * t", "r * 4 >= t", "r > 0.9 * t")
        return Asked(
            ("min(n) AS n0",),
            f"FROM (SELECT n, sum(c) OVER (ORDER BY n) AS r, sum(c) OVER () AS t FROM ({groups}) h) WHERE {met}",
        )
    if how == 2:
        met = a.one(f"c >= {share}", f"r = ceil({share} * t)", f"r >= {share} * t")
        return Asked((f"min(n) FILTER (WHERE {met}) AS n0",), f"FROM ({numbered})")
    met = a.one("r IN ((t + 1) // 2, (t + 2) // 2)", "r BETWEEN t / 2.0 AND t / 2.0 + 1", "abs(2 * r - t - 1) <= 1")
    return Asked(("avg(n) AS n0",), f"FROM ({numbered}) WHERE {met}")


def every_row_with_each(a: Analyst) -> Asked:
    """Rows beside each of some keys."""
    value = a.one(
        "avg(CASE WHEN s.tid IS NULL THEN 0.0 ELSE 1.0 END) AS n1",
        "count(s.tid) AS n1",
        "count(*) AS n1",
        "sum(CASE WHEN s.tid IS NULL THEN 0 ELSE 1 END) AS n1",
    )
    keys = a.one(
        "SELECT DISTINCT item FROM sales",
        "SELECT item FROM sales GROUP BY item",
        f"SELECT item FROM sales GROUP BY item HAVING count(*) > {a.rnd.randint(0, 3)}",
    )
    if a.rnd.random() < 0.6:
        rows = f"FROM ({keys}) i CROSS JOIN (SELECT DISTINCT tid FROM sales{a.where()}) p LEFT JOIN sales s ON s.item = i.item AND s.tid = p.tid GROUP BY i.item"
        return Asked(("i.item AS k0", value), rows, filtered="HAVING" in keys)
    share = a.one(
        "avg(CASE WHEN x.l = c.l THEN 1.0 ELSE 0.0 END) AS n1",
        "count(*) FILTER (WHERE x.l = c.l) AS n1",
        "sum(CASE WHEN x.l < c.l THEN 1 ELSE 0 END) AS n1",
    )
    return Asked(
        ("c.l AS k0", share),
        "FROM (SELECT DISTINCT l FROM x) c CROSS JOIN x GROUP BY c.l",
        f"WITH x AS (SELECT tid, length(item) AS l FROM sales{a.where()})",
    )


def rows_with_other_values(a: Analyst) -> Asked:
    """Rows of persons beside whose value they have a greater, smaller or other one, or none."""
    sign, negated = a.one("<", ">", "<=", ">=", "<>"), a.one("", "NOT ", "NOT ")
    more = a.one("", "", f" AND {a.test('t.item')}")
    if a.rnd.random() < 0.7:
        rows, inner, one, other = _JOINED, "sales t JOIN prices q ON q.item = t.item", "q.price", "p.price"
    else:
        rows, inner, one, other = (
            "sales s JOIN food f ON f.node = s.item",
            "sales t JOIN food g ON g.node = t.item",
            "g.parent",
            "f.parent",
        )
    exists = f"{negated}EXISTS (SELECT 1 FROM {inner} WHERE t.tid = s.tid AND {one} {sign} {other}{more})"
    where = a.one("", f" AND {a.test('s.item')}")
    if a.rnd.random() < 0.5:
        return Asked(("count(DISTINCT s.tid) AS n0", "count(*) AS n1"), f"FROM {rows} WHERE {exists}{where}")
    return Asked((f"{other} AS k0", "count(DISTINCT s.tid) AS c1"), f"FROM {rows} WHERE {exists}{where} GROUP BY {other}")


def persons_of_sizes(a: Analyst) -> Asked:
    """Persons by how many items they have, or by a sum, alone and within spans."""
    low = a.rnd.randint(0, 4)
    span = a.one(
        f"n = {low}", f"n >= {low}", f"n <= {low}", f"n BETWEEN {low} AND {low + 2}", f"n > {low} AND n < {low + 3}"
    )
    rows = a.one(
        "sales", f"sales{a.where()}", "sales JOIN (SELECT item, length(item) % 3 AS w FROM sales GROUP BY item) USING (item)"
    )
    number = "sum(w)" if " w " in rows else a.one("count(*)", "count(DISTINCT item)")
    inner = f"SELECT tid, {number} AS n FROM {rows} GROUP BY tid"
    if a.rnd.random() < 0.5:
        return Asked(
            (f"count(*) FILTER (WHERE {span}) AS n0", f"sum(n) FILTER (WHERE {span}) AS n1", "count(*) AS n2"),
            f"FROM ({inner})",
        )
    return Asked(
        ("n AS k0", "count(*) AS c1"),
        f"FROM ({inner}) WHERE {span} GROUP BY n" if a.rnd.random() < 0.4 else f"FROM ({inner}) GROUP BY n",
    )


def pairs_of_values(a: Analyst) -> Asked:
    """Pairs of items in one order, and pairs whose values are equal or differ."""
    if a.rnd.random() < 0.5:
        ends, on = "least(a.item, b.item) AS k0, greatest(a.item, b.item) AS k1", a.one("<>", "<>", "<", ">")
        where = a.one("", "", f" WHERE {a.test('a.item')}")
        return Asked(
            (
                *ends.split(", greatest")[:1],
                "greatest" + ends.split(", greatest")[1],
                a.one("count(DISTINCT a.tid) AS c2", "count(*) AS c2"),
            ),
            f"FROM sales a JOIN sales b ON b.tid = a.tid AND a.item {on} b.item{where} GROUP BY 1, 2",
        )
    table, value = a.one("prices p JOIN prices q ON q.item = b.item", "food p JOIN food q ON q.node = b.item"), "price"
    joined, value = (
        (table.replace("p JOIN", "p ON p.item = a.item JOIN"), "price")
        if "prices" in table
        else (table.replace("p JOIN", "p ON p.node = a.item JOIN"), "parent")
    )
    rows = f"FROM sales a JOIN sales b ON b.tid = a.tid AND a.item {a.one('<', '<>', '>')} b.item JOIN {joined} WHERE p.{value} {a.one('=', '<>', '<', '>=')} q.{value}"
    if a.rnd.random() < 0.5:
        return Asked((f"p.{value} AS k0", "count(*) AS c1"), f"{rows} GROUP BY p.{value}")
    return Asked(("count(*) AS n0", "count(DISTINCT a.tid) AS n1"), rows)


def sums_of_joined_groups(a: Analyst) -> Asked:
    """Sums over groups that are joined with the analyst's rows."""
    groups = f"SELECT item, count(*) AS n, sum(length(item)) AS l FROM sales{a.where()} GROUP BY item"
    value = a.one("sum(n * price)", "sum(g.n)", "sum(l)", "sum(n * price) / nullif(sum(n), 0)", "coalesce(sum(n), 0)")
    join = a.one(
        "JOIN prices USING (item)",
        "JOIN prices p ON p.item = g.item",
        "LEFT JOIN prices p ON p.item = g.item AND p.price > 1",
    )
    where = a.one("", "", " WHERE price > 1", " WHERE g.item <> 'milk'")
    if a.rnd.random() < 0.5:
        return Asked((f"{value} AS n0",), f"FROM ({groups}) g {join}{where}")
    return Asked(("price AS k0", f"{value} AS n1"), f"FROM g {join}{where} GROUP BY price", f"WITH g AS ({groups})")


def persons_of_one_value(a: Analyst) -> Asked:
    """Persons all of whose values are one, and how many values they have."""
    rows, value = a.one((_JOINED, "price"), ("sales s JOIN food f ON f.node = s.item", "f.parent"), ("sales s", "s.item"))
    where = a.one("", f" WHERE {a.test('s.item')}")
    inner = (
        f"SELECT s.tid, min({value}) AS a, max({value}) AS b, count(DISTINCT {value}) AS d FROM {rows}{where} GROUP BY s.tid"
    )
    met = a.one("a = b", "a <> b", "b > a", "a >= b", "b <= a", "d = 1", "d > 1", "d = 2", "NOT a = b OR d = 1")
    how = a.rnd.randint(0, 2)
    if how == 0:
        return Asked(("count(*) AS n0", "avg(d) AS n1", "sum(d) AS n2"), f"FROM ({inner}) WHERE {met}")
    if how == 1:
        return Asked(("d AS k0", "count(*) AS c1"), f"FROM ({inner}) GROUP BY d")
    return Asked(("a AS k0", "count(*) AS c1"), f"FROM ({inner}) WHERE a = b GROUP BY a")


def spreads_of_flags(a: Analyst) -> Asked:
    """How much flags of persons vary, alone and together."""
    flags = [f"max(CASE WHEN {a.test('item')} THEN 1 ELSE 0 END) AS {name}" for name in "xy"]
    columns = ("var_pop(x) AS n0", "covar_pop(x, y) AS n1", "stddev_samp(y) AS n2", "covar_samp(x, x) AS n3")
    return Asked(columns, f"FROM (SELECT {', '.join(flags)} FROM sales GROUP BY tid)")


def ranks_of_sums(a: Analyst) -> Asked:
    """Groups ranked and added up in the order of sums, averages or shares of them."""
    rows, key = a.one(
        (_JOINED, "s.item"), ("sales s JOIN food f ON f.node = s.item JOIN prices p ON p.item = s.item", "f.parent")
    )
    number = a.one(
        *("sum(price)", "avg(price)", "max(price)", "count(*) * 1.0 / count(DISTINCT s.tid)"),
        *(
            "sum(price) / count(DISTINCT s.tid)",
            "sum(CASE WHEN price > 1 THEN price END)",
            "avg(price) FILTER (WHERE price > 1)",
        ),
    )
    where = f" WHERE {a.test('s.item')}"
    inner = f"SELECT {key} AS k, {number} AS v FROM {rows}{a.one('', where)} GROUP BY {key}"
    window = a.one("rank()", "row_number()", "sum(v)", "count(*)", "1.0 * sum(v) OVER (ORDER BY v, k) / sum(v)")
    order = "" if "/ sum" in window else a.one("ORDER BY v", "ORDER BY v DESC", "ORDER BY v DESC, k")
    order = "ORDER BY v, k" if window == "row_number()" else order
    return Asked(("k AS k0", f"{window} OVER ({order}) AS n1"), f"FROM ({inner})")


def pairs_of_own_values(a: Analyst) -> Asked:
    """Pairs of values of a person, each value once, in one order or in both."""
    source, value = a.one(("sales JOIN food ON node = item", "parent"), ("sales JOIN prices USING (item)", "price"))
    distinct = f"WITH c AS (SELECT DISTINCT tid, {value} AS v FROM {source}{a.where()})"
    count = a.one("count(*)", "count(DISTINCT a.tid)") + " AS c2"
    if a.rnd.random() < 0.5:
        columns = ("a.v AS k0", "b.v AS k1", count)
        return Asked(
            columns, f"FROM c a JOIN c b ON a.tid = b.tid AND a.v {a.one('<', '>', '<>')} b.v GROUP BY 1, 2", distinct
        )
    columns = ("least(a.v, b.v) AS k0", "greatest(a.v, b.v) AS k1", "count(DISTINCT a.tid) AS c2")
    return Asked(columns, f"FROM c a JOIN c b USING (tid) WHERE a.v {a.one('<', '<>')} b.v GROUP BY 1, 2", distinct)


def sums_of_finer_groups(a: Analyst) -> Asked:
    """Sums of counts of groups by two keys, also of some of them alone, beside extremes of a key and totals of all groups."""
    number = a.one("count(*)", "sum(price)")
    groups = f"WITH g AS (SELECT s.item, price, length(s.item) AS l, {number} AS n FROM {_JOINED}{a.one('', a.where('s.item'))} GROUP BY 1, 2, 3)"
    met = a.one("price > 1", f"l > {a.rnd.randint(2, 6)}", a.test("item"))
    value = a.one(
        *(f"sum(CASE WHEN {met} THEN n ELSE 0 END)", f"sum(CASE WHEN {met} THEN n END)", f"sum(n) FILTER (WHERE {met})"),
        *(f"sum(CASE WHEN {met} THEN n ELSE 0 END) / sum(n)", "sum(price * n) / sum(n)", "sum(n)", "count(DISTINCT price)"),
    )
    if a.rnd.random() < 0.3:
        total = a.one("(SELECT sum(n) FROM g)", "(SELECT max(x.n) FROM g x)", "t.n")
        more = ", (SELECT sum(n) AS n FROM g) t" if total == "t.n" else ""
        return Asked(("g.item AS k0", "g.price AS k1", f"g.n / {total} AS n2"), f"FROM g{more}", groups)
    columns = (f"{a.one('l', 'item')} AS k0", f"{value} AS n1", a.one("min(price)", "max(l)", "sum(n)") + " AS n2")
    return Asked(columns, f"FROM g GROUP BY {columns[0][:-6]}", groups)


def remainders(a: Analyst) -> Asked:
    """Rows of groups less some of them, and quotients whose divisor may be 0."""
    met, other = a.test("s.item"), a.one("price > 1", "price <= 1", a.test("s.item"))
    less = a.one(
        f"count(*) FILTER (WHERE {met})", f"sum(CASE WHEN {met} THEN 1 ELSE 0 END)", f"count(CASE WHEN {met} THEN 1 END)"
    )
    more = a.one("", f" - count(*) FILTER (WHERE {other})")
    rows = "SELECT s.*, price, length(s.item) AS l FROM " + _JOINED
    if a.rnd.random() < 0.6:
        return Asked(("l AS k0", f"count(*) - {less}{more} AS n1"), f"FROM ({rows}) s GROUP BY l")
    one, two = f"count(*) FILTER (WHERE {met})", f"count(DISTINCT tid) FILTER (WHERE {other})"
    divisor = a.one(f"{one} * {two}", f"{one} / count(*)", f"({one} / nullif({two}, 0)) * ({two} / count(*))")
    return Asked((f"{two} / nullif({divisor}, 0) AS n0",), f"FROM ({rows}) s")

# ruff: noqa: E501
"""Random queries on numbers that each person's items make together: quantiles, the dearest item, numbers of categories."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked
from session.random_releases import literal


def quantile_lists(a: Analyst) -> Asked:
    """Several quantiles at once, of sizes or of counts."""
    inner = a.one(
        f"SELECT tid, count(*) AS v FROM sales{a.where()} GROUP BY tid",
        f"SELECT item, count(*) AS v FROM sales{a.where()} GROUP BY item",
        f"SELECT tid, count(*) FILTER (WHERE {a.test()}) AS v FROM sales GROUP BY tid",
    )
    function = a.one("quantile_cont", "quantile_disc")
    shares = ", ".join(a.one("0", "0.1", "0.25", "0.5", "0.9", "1") for _ in range(a.rnd.randint(1, 3)))
    call = a.one(f"{function}(v, [{shares}])", f"{function}(v, [{shares}]) FILTER (WHERE v > 1)", "[min(v), max(v)]")
    return Asked((f"{call} AS n0",), f"FROM ({inner}) q")


def _prices(a: Analyst) -> str:
    """A table of prices: of some items, or with NULLs, or with several rows for an item."""
    rows = [(item, a.one("1.0", "2.5", "-1", "0", "10")) for item in a.held if a.rnd.random() < 0.9]
    rows += [(item, "NULL") for item in a.held if a.rnd.random() < 0.05]
    listed = ", ".join(f"({literal(item)}, {price})" for item, price in [*rows, ("ghost", "0.5")])
    return a.one("prices", "prices", f"(VALUES {listed}) AS np(item, price)")


def _extremes(a: Analyst) -> str:
    price = a.one("price", "price", "price * 2 + 1", "coalesce(price, 0)", "coalesce(price, 1.5)")
    where = a.one("", "", f" WHERE {a.test('sales.item')}", " WHERE price > 0")
    columns = f"{a.one('max', 'min')}({price}) AS v, {a.one('max', 'min')}({price}) AS w"
    return f"SELECT tid, {columns} FROM sales {a.one('', '', 'LEFT ')}JOIN {_prices(a)} USING (item){where} GROUP BY {a.one('tid', '1')}"


def dearest(a: Analyst) -> Asked:
    """The greatest or the least number of each person's items."""

    def number() -> str:
        number = a.one("0", "1", "2.5", "0.5", "-1")
        test = f"{a.one('v', 'w')} {a.one('>', '>=', '<', '<=', '=', '<>')} {number}"
        return a.one(
            "avg(v)", "avg(w)", "avg(v)", "max(v)", "min(v)", "median(v)", "quantile_disc(v, [0.2, 0.9])", "sum(v)", "stddev(v)",
            "count(*)", f"count(*) FILTER (WHERE {test})", f"avg(v) FILTER (WHERE {test})", f"count_if({test})", "avg(v) - avg(w)",
        )  # fmt: skip

    where = a.one("", "", f" WHERE v {a.one('>', '<=', '=')} {a.one('0', '1', '2.5')}")
    return Asked(a.numbers(number), f"FROM ({_extremes(a)}) q{where}")


def _food(a: Analyst) -> str:
    """A taxonomy, perhaps with NULLs, or with several rows for an item."""
    rows = [(item, a.one("'a'", "'b'", "'c'", "'a'", "NULL")) for item in a.held if a.rnd.random() < 0.9]
    rows += [(item, a.one("'a'", "'d'")) for item in a.held if a.rnd.random() < 0.1]
    listed = ", ".join(f"({literal(item)}, {kind})" for item, kind in [*rows, ("ghost", "'a'")])
    return a.one("food", "food", f"(VALUES {listed}) AS f(node, parent)")


def _categories(a: Analyst) -> str:
    value = a.one("parent", "parent", "parent", "left(parent, 1)", "coalesce(parent, 'none')", "node")
    where = a.one("", "", f" WHERE {a.test('sales.item')}", f" WHERE parent <> '{a.rnd.choice(a.parents)}'")
    wanted = a.one("", "", f" FILTER (WHERE {a.test('sales.item')})")
    join = f"FROM sales {a.one('', '', 'LEFT ')}JOIN {_food(a)} ON sales.item = node{where}"
    return f"SELECT tid, count(DISTINCT {value}){wanted} AS v {join} GROUP BY tid"


def kinds_of_each(a: Analyst) -> Asked:
    """The number of different categories of each person."""
    inner, n = _categories(a), a.rnd.randint(0, 3)
    test = f"v {a.one('>', '>=', '<', '<=', '=', '<>')} {n}"
    if a.rnd.random() < 0.3:
        return Asked(("v AS k0", "count(*) AS c1"), f"FROM ({inner}) q GROUP BY {a.one('v', '1')}")
    if a.rnd.random() < 0.3:
        return Asked((f"{test} AS k0", "count(*) AS c1"), f"FROM ({inner}) q GROUP BY 1")

    def number() -> str:
        return a.one(
            "avg(v)", "max(v)", "min(v)", "median(v)", "sum(v)", "count(*)", f"count(*) FILTER (WHERE {test})", "stddev(v)",
            f"count(*) FILTER (WHERE {test}) / count(*)", f"avg(({test})::INTEGER)", "quantile_cont(v, [0.3, 0.8])",
        )  # fmt: skip

    return Asked(a.numbers(number), f"FROM ({inner}) q{a.one('', f' WHERE {test}')}")


def kinds_having(a: Analyst) -> Asked:
    """Persons by the number of their categories, and by their dearest item."""
    n, sign = a.rnd.randint(0, 3), a.one(">", ">=", "<", "<=", "=", "<>")
    call = a.one("count(DISTINCT parent)", f"count(DISTINCT parent) FILTER (WHERE {a.test('sales.item')})")
    test = a.one(f"{call} {sign} {n}", f"{n} {sign} {call}", f"NOT ({call} {sign} {n})", f"{call} BETWEEN 1 AND {n}")
    inner = f"SELECT tid FROM sales JOIN {_food(a)} ON sales.item = node GROUP BY tid HAVING {test}"
    return Asked(("count(*) AS c0",), f"FROM ({inner}) q")


def beside_groups(a: Analyst) -> Asked:
    """Counts of the whole table beside each group, such as for the lift of pairs."""

    def whole(key: str) -> str:
        more = a.one("", "", f" AND {a.test('s.item')}")
        count = a.one("count(*)", "count(DISTINCT s.tid)", f"count(*) FILTER (WHERE {a.test('s.item')})")
        equal = a.one(f"s.item = {key}", f"{key} = s.item")
        return a.one(
            f"(SELECT {count} FROM sales s WHERE {equal}{more})",
            f"(SELECT count(DISTINCT s.tid) FROM sales s JOIN sales t ON s.tid = t.tid WHERE {equal} AND t.item = {a.item()})",
        )

    if a.rnd.random() < 0.5:
        number = f"count(*) * (SELECT count(DISTINCT tid) FROM sales) / ({whole('x.item')} * {whole('y.item')})"
        sign = a.one("<", "<>", "<=")
        rest = f"FROM sales x JOIN sales y ON x.tid = y.tid AND x.item {sign} y.item GROUP BY x.item, y.item"
        return Asked(("x.item AS k0", "y.item AS k1", f"{number} AS n0", f"{whole('x.item')} AS n1"), rest)
    number = a.one(f"{whole('x.item')} - count(*)", f"count(*) / {whole('x.item')}", whole("x.item"))
    having = a.one("", f" HAVING count(*) {a.one('>', '<=', '=')} {whole('x.item')}")
    rest = f"FROM sales x{a.where('x.item')} GROUP BY x.item{having}"
    return Asked(("x.item AS k0", f"{number} AS n0"), rest, filtered=bool(having))


def joined_totals(a: Analyst) -> Asked:
    """Groups beside the totals of a coarser key, which are joined with their rows."""
    key = a.one("length({}.item)", "left({}.item, 1)", "{}.item")
    where = a.one("", "", f" WHERE {a.test('o.item')}")
    totals = f"SELECT {key.format('o')} AS k, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales o{where} GROUP BY 1"
    return _beside_totals(a, totals, key.format("s"), "sales s", a.where("s.item"))


def attribute_totals(a: Analyst) -> Asked:
    """Groups of rows by item beside the totals of an attribute, which are joined with their rows."""
    key = a.one("{}.town", "{}.age // 10")
    totals = f"SELECT {key.format('p')} AS k, count(*) AS n FROM records p JOIN sales USING (tid) GROUP BY ALL"
    return _beside_totals(a, totals, key.format("r"), "sales s JOIN records r ON r.tid = s.tid", a.where("s.item"))


def _beside_totals(a: Analyst, totals: str, key: str, source: str, where: str) -> Asked:
    one = a.one("max(t.n)", "min(t.n)", "any_value(t.n)", "t.n")
    number = a.one(f"count(*) / {one}", f"{one} - count(*)", one, f"count(DISTINCT s.tid) * 2.0 / {one}")
    keys, by = a.rnd.choice([((f"{key} AS k0", "s.item AS k1"), f"{key}, s.item"), ((f"{key} AS k0",), key)])
    rest = f"FROM {source} JOIN t ON t.k = {key}{where} GROUP BY {by}{', t.n' if one == 't.n' else ''}"
    return Asked((*keys, f"{number} AS n1"), rest, f"WITH t AS ({totals})")


def triples(a: Analyst) -> Asked:
    """Pairs of items of persons who have a third one."""
    sign, one = a.one("<", "<>", "<="), a.item()
    tests = [f"x.item {sign} y.item"]
    tests += [a.test("x.item")] if a.rnd.random() < 0.3 else []
    if a.rnd.random() < 0.6:
        tests.append(f"z.item = {one}")
        tests += [f"{a.one('x', 'y')}.item <> z.item"] if a.rnd.random() < 0.3 else []
        source = "sales x JOIN sales y ON x.tid = y.tid JOIN sales z ON z.tid = x.tid"
    else:
        tests.append(f"x.tid IN (SELECT tid FROM sales WHERE item = {one})")
        tests += [f"y.tid IN (SELECT tid FROM sales WHERE item = {a.item()})"] if a.rnd.random() < 0.3 else []
        source = "sales x JOIN sales y USING (tid)"
    count = a.one("count(*)", "count(DISTINCT x.tid)") + " AS c0"
    limit = a.one("", "ORDER BY c0 DESC LIMIT 3")
    rest = f"FROM {source} WHERE {' AND '.join(tests)} GROUP BY {a.one('1, 2', 'x.item, y.item')}"
    return Asked(("x.item AS k0", "y.item AS k1", count), rest, limit=limit)

# ruff: noqa: E501
"""Random queries on subqueries that compute columns of rows, and on own tables with NULLs or without some items."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked
from session.random_releases import literal


def _prices(a: Analyst) -> str:
    """A table of prices, of which some are NULL and some items have none."""
    chosen = [item for item in a.held if a.rnd.random() < 0.8]
    rows = ", ".join(f"({literal(item)}, {a.one('NULL', '1.0', '2.5', '1.0')})" for item in chosen)
    return a.one("prices", "prices", f"(VALUES {rows}{', ' if rows else ''}('ghost', 0.5)) AS np(item, price)")


def _joined(a: Analyst) -> str:
    return f"sales {a.one('', 'LEFT ')}JOIN {_prices(a)} USING (item)"


def _number(a: Analyst) -> str:
    return a.one("0", "0.5", "1", "2", "-1")


def _dear(a: Analyst) -> str:
    """A condition on the price of a row, which may be NULL."""
    test = f"price {a.one('>', '>=', '<', '=', '<>')} {_number(a)}"
    return a.one(
        test,
        test,
        test,
        f"coalesce({test}, {a.one('true', 'false')})",
        "price IS NULL",
        f"NOT {test}",
        f"{test} OR {a.test('sales.item')}",
    )


def nullable(a: Analyst) -> Asked:
    """Aggregates and groups of columns that may be NULL."""
    test, joined = _dear(a), _joined(a)
    where = a.one("", "", f" WHERE {_dear(a)}", f" WHERE {a.test('sales.item')}")
    amount = f"coalesce(price, {_number(a)})"
    value = a.one(
        f"count_if({test})", f"sum({test})", f"sum(({test})::INTEGER)", f"avg(({test})::INTEGER)", f"bool_or({test})", f"bool_and({test})",
        f"sum({amount})", f"avg({amount})", f"sum({amount} * 2 + 1)", f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)", f"count({test})",
    )  # fmt: skip
    value = a.one(value, value, f"{value} FILTER (WHERE {_dear(a)})") if value.startswith(("sum", "count_if")) else value
    name = "b1" if value.startswith("bool") else "n1"
    if a.rnd.random() < 0.4:
        return Asked((f"{value} AS {name}", "count(*) AS c2"), f"FROM {joined}{where}")
    key = a.one("price", test, amount, "item", f"CASE WHEN {test} THEN 'x' ELSE 'y' END", "price IS NULL")
    columns = (f"{key} AS k0", a.one("count(*) AS c1", "count(DISTINCT tid) AS c1", f"{value} AS {name}"))
    return Asked(columns, f"FROM {joined}{where} GROUP BY {a.one('1', key)}")


def nullable_persons(a: Analyst) -> Asked:
    """Sums of the values of a person."""
    amount = f"coalesce(price, {_number(a)})"
    value = a.one(
        f"sum({amount})",
        f"sum({amount})",
        "sum(price)",
        f"count_if({_dear(a)})",
        f"count(*) FILTER (WHERE {_dear(a)})",
        "count(price)",
    )
    where = a.one("", f" WHERE {a.test('sales.item')}")
    inner = f"SELECT tid, {value} AS v FROM {_joined(a)}{where} GROUP BY tid"
    if a.rnd.random() < 0.5:
        return Asked(("count(*) AS c0",), f"FROM ({inner}) q WHERE v {a.one('>', '<', '>=', '=')} {_number(a)}")
    return Asked((f"{a.one('avg', 'sum', 'max', 'min')}(v) AS n0",), f"FROM ({inner}) q")


def layered(a: Analyst) -> Asked:
    """Counts of a common table expression that names and computes columns."""
    price = a.rnd.random() < 0.6
    source, dear = (_joined(a), _dear(a)) if price else ("sales", a.test("sales.item"))
    columns = {
        "t": a.one("tid", "sales.tid"),
        "i": "sales.item",
        "tier": f"CASE WHEN {dear} THEN 'dear' WHEN {a.test('sales.item')} THEN 'some' ELSE 'cheap' END",
        "big": a.one(dear, a.test("sales.item"), f"coalesce({dear}, false)"),
        "up": "upper(sales.item)",
        "amount": f"coalesce(price, {_number(a)})" if price else a.one("1", "CASE WHEN length(item) > 4 THEN 2 ELSE 1 END"),
    }
    where = a.one("", "", f" WHERE {a.test('sales.item')}", f" WHERE {dear}")
    star = a.rnd.random() < 0.15
    listed = ", ".join(f"{e} AS {name}" for name, e in columns.items())
    layers = f"WITH l AS (SELECT {'sales.*, ' if star else ''}{listed} FROM {source}{where})"
    if a.rnd.random() < 0.3:
        layers += f", l2 AS (SELECT *, {a.one('tier', 'up')} || '!' AS loud FROM l{a.one('', ' WHERE tier <> ' + literal('some'))})"
        layers = layers if a.rnd.random() < 0.5 else layers.replace("l2 AS", "l3 AS") + ", l2 AS (SELECT * FROM l3)"
        name = "l2"
    else:
        name = "l"
    test = a.one(
        "tier = 'dear'",
        "tier <> 'cheap'",
        "big",
        "NOT big",
        f"i = {a.item()}",
        f"up = upper({a.item()})",
        f"amount > {_number(a)}",
        "tier IN ('dear', 'some')",
    )
    number = a.one(
        "count(*)",
        "count(DISTINCT t)",
        "count(*)",
        f"count(*) FILTER (WHERE {test})",
        f"count(DISTINCT t) FILTER (WHERE {test})",
    )
    shape = a.rnd.random()
    if shape < 0.3:
        return Asked(
            (f"{number} AS c0", a.one("sum(amount) AS n1", "avg(amount) AS n1", "count_if(big) AS n1")),
            f"FROM {name}{a.one('', f' WHERE {test}')}",
            before=layers,
        )
    if shape < 0.65:
        key = a.one("tier", "big", "i", "up", "amount")
        alias = a.one(key, f"{name}.{key}")
        return Asked(
            (f"{alias} AS k0", f"{number} AS c1"),
            f"FROM {name}{a.one('', f' WHERE {test}')} GROUP BY {alias}",
            before=layers,
        )
    if shape < 0.85:
        value = a.one(
            "sum(amount)",
            "count(*)",
            "bool_or(big)",
            "count_if(big)",
            "count(*) FILTER (WHERE tier = 'dear')",
            "max(CASE WHEN big THEN 1 ELSE 0 END)",
        )
        inner = f"(SELECT t, {value} AS v FROM {name} GROUP BY t) q"
        if value.startswith("bool"):
            return Asked(("count(*) AS c0",), f"FROM {inner} WHERE {a.one('v', 'NOT v')}", before=layers)
        return Asked(
            (a.one("count(*) AS c0", "avg(v) AS n0"),),
            f"FROM {inner} WHERE v {a.one('>', '=', '<=')} {a.one('0', '1', '2')}",
            before=layers,
        )
    other = a.one(f"x.i = {a.item()}", "x.tier = 'dear'", "x.big", "true")
    return Asked(
        ("y.i AS k0", "count(DISTINCT y.t) AS c1"),
        f"FROM {name} x JOIN {name} y ON x.t = y.t WHERE {other} GROUP BY y.i",
        before=layers,
    )

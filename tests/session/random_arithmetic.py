"""Random averages, shares, differences and totals that are composed of aggregates, in one SELECT and in several."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _rows(a: Analyst) -> tuple[str, str]:
    """Rows of persons, and a condition on one of them."""
    test = a.test("sales.item")
    if a.records and a.rnd.random() < 0.5:
        join = a.one("JOIN", "JOIN", "LEFT JOIN")
        return f"sales {join} records USING (tid)", a.one(test, a.value("records"), f"({test} AND {a.value('records')})")
    if a.rnd.random() < 0.3:
        return ("(SELECT tid, count(*) AS n FROM sales GROUP BY tid) s", f"n {a.one('>', '<=', '=')} {a.one('1', '2', '3')}")
    return "sales", test


def _filter(a: Analyst, *tests: str) -> str:
    chosen = [test for test in tests if a.rnd.random() < 0.6]
    return f" FILTER (WHERE {' AND '.join(f'({test})' for test in chosen)})" if chosen else ""


def _divisor(a: Analyst, number: str) -> str:
    return a.one(number, f"nullif({number}, 0)", f"nullif({number}, 0)::DOUBLE")


def quotients(a: Analyst) -> Asked:
    """Sums and counts by counts."""
    (rows, one), other = _rows(a), a.test("item")
    other = "n > 2" if rows.startswith("(") else other
    value = a.one(
        f"CASE WHEN {other} THEN 1 ELSE 0 END",
        f"CASE WHEN {other} THEN 3 WHEN {one} THEN -1 ELSE 2 END",
        f"CASE WHEN {one} THEN 2 END",
    )
    if rows.startswith("("):
        value = a.one(value, "n", "n * n", "n - 2")
    elif a.records and "records" in rows:
        value = a.one(value, "age", "coalesce(age, 7)")
    where, chosen = a.one("", f" WHERE {one}"), _filter(a, one)
    above = a.one(
        f"sum({value}){chosen}", f"count(*){_filter(a, one, other)}", f"1.0 * sum({value})", f"100 * count(*){chosen}"
    )
    below = a.one(f"count(*){chosen}", f"count({value}){chosen}", f"count(DISTINCT tid){chosen}", "count(*)")
    columns = (f"{above} / {_divisor(a, below)} AS n0", f"count(*){chosen} AS c1")
    if "count" in above and a.rnd.random() < 0.3:
        return Asked(
            (f"round({above} / {_divisor(a, below)}, 2) AS n0", f"avg({value}){chosen} AS n1"), f"FROM {rows}{where}"
        )
    if a.rnd.random() < 0.3 and "records" in rows:
        return Asked(("town AS k9", *columns), f"FROM {rows}{where} GROUP BY town")
    return Asked(columns, f"FROM {rows}{where}")


def differences(a: Analyst) -> Asked:
    """Sums and differences of counts, of conditions in FILTER or in subqueries."""
    rows, one = _rows(a)
    tests = [one, *("n < 3" if rows.startswith("(") else a.test("item") for _ in range(2))]
    tests += [f"({tests[0]}) {a.one('AND', 'OR')} ({tests[1]})", f"NOT ({tests[0]})"]
    call = a.one("count(*)", "count(*)", "count(DISTINCT tid)")

    def number() -> str:
        test = a.one(*tests)
        if apart:
            return a.one(f"(SELECT {call} FROM {rows} WHERE {test})", f"(SELECT {call} FROM {rows})")
        return a.one(f"{call} FILTER (WHERE {test})", call)

    apart = a.rnd.random() < 0.5
    text = number()
    for _ in range(a.rnd.randint(1, 3)):
        text = f"{text} {a.one('+', '-', '-')} {a.one('', '', '2 * ')}{number()}"
    where = a.one("", "", f" WHERE {one}")
    return Asked((f"{text} AS n0",), "" if apart else f"FROM {rows}{where}")


def quotients_of_subqueries(a: Analyst) -> Asked:
    """Shares of scalar subqueries, and an extreme by ORDER BY and LIMIT."""
    rows, one = _rows(a)
    shape = a.rnd.random()
    if shape < 0.2:
        inner = f"SELECT {a.one('town', 'tid', 'item')} AS g, {a.counting()} AS n FROM sales{a.where()} GROUP BY 1"
        inner = (
            inner.replace("town", "item")
            if not a.records
            else inner.replace("FROM sales", "FROM sales JOIN records USING (tid)", 1)
        )
        return Asked((f"(SELECT n FROM ({inner}) ORDER BY n {a.one('', 'DESC')} LIMIT 1) AS n0",), "")
    call = a.one("count(*)", "count(DISTINCT tid)", "sum(CASE WHEN tid IS NULL THEN 0 ELSE 2 END)", "coalesce(sum(1), 0)")
    below = _divisor(a, f"(SELECT {a.one('count(*)', 'count(DISTINCT tid)')} FROM {rows}{a.one('', f' WHERE {one}')})")
    return Asked((f"(SELECT {call} FROM {rows} WHERE {one}) {a.one('', '* 100.0 ')}/ {below} AS n0",), "")


def totals(a: Analyst) -> Asked:
    """Shares of all groups, by a window over them, and sums of numbers of items."""
    if a.rnd.random() < 0.5:
        key = a.one("item", a.labelled("item"), "town" if a.records else "item")
        rows = "sales JOIN records USING (tid)" if key == "town" else "sales"
        number = a.one("count(*)", "count(*)", "sum(2)")
        total = a.one("sum({}) OVER ()", "(sum({}) OVER ())").format(number)
        if a.rnd.random() < 0.4:
            inner = f"SELECT {key} AS k0, {number} AS n FROM {rows}{a.where('item')} GROUP BY {key}"
            over = a.one(
                "sum(n) OVER ()", "nullif(sum(n) OVER (), 0)", "sum(n) OVER (PARTITION BY k0)", "sum(n) OVER (ORDER BY k0)"
            )
            return Asked(("k0", f"{a.one('', '100.0 * ')}n / {over} AS n1"), f"FROM ({inner}){a.one('', ' WHERE n > 1')}")
        columns = (f"{key} AS k0", f"{number} * 1.0 / {total} AS n1", f"sum({number}) OVER () AS n2")
        return Asked(columns, f"FROM {rows}{a.where('item')} GROUP BY {key}")
    value = a.one(
        "n * (n - 1) / 2", "n * n", "5 - n", "CASE WHEN n > 2 THEN 7 ELSE 1 END", "sqrt(n)", "n % 2", "abs(n - 2)", "1 / n"
    )
    inner = f"SELECT tid, {a.one('count(*)', 'count(DISTINCT item)')} AS n FROM sales{a.where()} GROUP BY tid"
    if a.rnd.random() < 0.3:
        sign = a.one("<", "<=", "<>", ">")
        return Asked(("count(*) AS c0",), f"FROM sales x JOIN sales y ON x.tid = y.tid AND x.item {sign} y.item")
    return Asked((f"{a.one('sum', 'avg')}({value}) AS n0",), f"FROM ({inner}) q{a.one('', ' WHERE n > 1')}")


def different_rows(a: Analyst) -> Asked:
    """Differences and shares of numbers of persons, each counted over other rows."""

    def counted() -> str:
        x, y = (f"item = {a.item()}", a.test("p.item")) if a.rnd.random() < 0.7 else (a.test(), a.test("p.item"))
        call = a.one("count(*)", "count(DISTINCT sales.tid)", "count(DISTINCT p.tid)")
        join = "sales JOIN sales p ON sales.tid = p.tid"
        owned = f"SELECT tid FROM sales WHERE {x} {a.one('INTERSECT', 'EXCEPT', 'UNION')} SELECT tid FROM sales p WHERE {y}"
        having = f"SELECT tid FROM sales GROUP BY tid HAVING {a.one('count(*) > 1', f'bool_or({x})', f'bool_and({x})')}"
        listed = [
            f"SELECT {a.one('count(*)', 'count(DISTINCT tid)')} FROM sales WHERE {x}",
            f"SELECT {call} FROM {join} WHERE sales.{x} AND {y}" if x.startswith("item =") else "SELECT count(*) FROM sales",
            f"SELECT {a.one('count(*)', 'count(DISTINCT tid)')} FROM sales WHERE tid {a.one('IN', 'NOT IN')} ({owned})",
            f"SELECT count(DISTINCT tid) FROM sales WHERE {x} AND tid IN ({having})",
            "SELECT count(DISTINCT tid) FROM sales",
            f"SELECT count(*) FROM ({owned})",
            f"SELECT {a.one('count(*)', 'count(DISTINCT q.tid)')} FROM ({having}) q",
            f"SELECT count(*) FROM (SELECT DISTINCT tid FROM sales WHERE {x}) q JOIN ({having}) r USING (tid)",
        ]
        if a.records:
            listed += [
                f"SELECT count(*) FROM records WHERE {a.value('records')}",
                f"SELECT count(DISTINCT tid) FROM sales JOIN records USING (tid) WHERE {x} AND {a.value('records')}",
            ]
        return f"({a.one(*listed)})"

    sign = a.one("/", "/", "-", "-", "+")
    other = counted()
    return Asked((f"{counted()} {a.one('', '* 100.0 ')}{sign} {_divisor(a, other) if sign == '/' else other} AS n0",), "")


def item_windows(a: Analyst) -> Asked:
    """Conditions on an aggregate over all rows of the item of a row."""
    call = a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.test()})", "count(tid)")
    over, met = (
        f"{call} OVER (PARTITION BY {a.one('item', 's.item')})",
        f"{a.one('>', '<=', '=', '<>')} {a.rnd.randint(0, 12)}",
    )
    rows = "sales s JOIN records USING (tid)" if a.records and a.rnd.random() < 0.3 else "sales s"
    where = a.where("item")
    if a.rnd.random() < 0.5:
        inner = f"SELECT tid, item FROM {rows}{where} QUALIFY {over} {met}"
    else:
        inner = f"SELECT tid, item FROM (SELECT tid, item, {over} AS c FROM {rows}{where}) WHERE c {met}"
    columns = a.one("count(*) AS c0", "count(DISTINCT tid) AS c0", "count(DISTINCT item) AS c0")
    group = a.rnd.random() < 0.3 and "item)" not in columns
    return Asked(
        ("item AS k1", columns) if group else (columns,),
        f"FROM ({inner}){a.where('item')}{' GROUP BY item' if group else ''}",
        filtered=group,
    )

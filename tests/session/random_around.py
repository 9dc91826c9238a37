"""Random queries of rows beside others: set operations of rows, counts around a row, self-joins by item, joined counts."""

from __future__ import annotations

import re

from session.random_analyst import Analyst, Asked


def sets_of_rows(a: Analyst) -> Asked:
    """UNION, INTERSECT and EXCEPT of rows with the id and the item."""
    columns = a.one("tid, item", "item, tid", "tid, item AS x")
    sides = [
        a.one(
            f"SELECT {columns} FROM sales{a.where()}",
            f"SELECT {columns} FROM sales WHERE tid IN ({a.ids(1)})",
            f"SELECT {columns.replace('tid', 's.tid').replace('item', 's.item')} FROM sales s WHERE {a.person('s', 1)}",
        )
        for _ in range(a.rnd.randint(2, 3))
    ]
    sign = a.one("UNION", "INTERSECT", "EXCEPT", "UNION")
    inner = f" {sign} ".join(sides)
    name = "x" if "AS x" in columns else "item"
    if a.rnd.random() < 0.5:
        return Asked((f"{name} AS k0", "count(*) AS c1"), f"FROM ({inner}){a.where(name)} GROUP BY {name}")
    return Asked((a.one("count(*) AS c0", "count(DISTINCT tid) AS c0"),), f"FROM ({inner}){a.where(name)}")


def attribute_sets(a: Analyst) -> Asked:
    """Set operations of rows with the id and an attribute."""
    sides = [f"SELECT tid, town FROM records{a.one('', f' WHERE tid IN ({a.ids(1)})')}" for _ in range(2)]
    inner = f" {a.one('UNION', 'INTERSECT', 'EXCEPT')} ".join(sides)
    return Asked(("town AS k0", "count(*) AS c1"), f"FROM ({inner}) GROUP BY town")


def rows_of_pairs(a: Analyst) -> Asked:
    """Rows of a self-join by one of their items."""
    compared = a.one("", "", " AND a.item <> b.item", f" AND {a.test('b.item')}", f" AND b.item <> {a.item()}")
    column = a.one("count(*) AS c1", "count(DISTINCT a.tid) AS c1", "count(*) / count(DISTINCT a.tid) AS n1")
    column = a.one(column, column, "count(DISTINCT b.item) AS c1", "avg(length(b.item)) AS n1")
    where = a.one("", "", f" WHERE {a.test('a.item')}")
    return Asked(("a.item AS k0", column), f"FROM sales a JOIN sales b ON a.tid = b.tid{compared}{where} GROUP BY a.item")


def none_before(a: Analyst) -> Asked:
    """Rows that the items of their person come before or after, by item or in all."""
    sign = a.one("<", ">", "<=", ">=", "<")
    further = f" AND {a.test('o.item')}"
    test = f"o.tid = s.tid AND o.item {sign} s.item{a.one('', '', further)}"
    met = f"{a.one('NOT ', 'NOT ', '')}EXISTS (SELECT 1 FROM sales o WHERE {test}){a.one('', f' AND {a.test()}')}"
    if a.rnd.random() < 0.7:
        return Asked(("item AS k0", "count(*) AS c1"), f"FROM sales s WHERE {met} GROUP BY item")
    return Asked((a.one("count(*) AS c0", "count(DISTINCT tid) AS c0"),), f"FROM sales s WHERE {met}")


def around_counts(a: Analyst) -> Asked:
    """Subqueries that name columns of the groups around them."""
    counts = f"SELECT item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales{a.where()} GROUP BY item"
    compared = f"{a.one('d.n', 'd.n + 1', 'd.item')} {a.one('>', '<', '<=', '=', '<>')} "
    compared += "c.item" if compared.startswith("d.item") else "c.n"
    compared += a.one("", "", " AND d.item <> c.item", f" AND {a.test('d.item')}")
    call = a.one("count(*)", "sum(d.n)", "max(d.n)", "avg(d.n)", "min(d.n)")
    nested = f"(SELECT {call} FROM c d WHERE {compared})"
    before = f"WITH c AS ({counts})"
    shape = a.rnd.random()
    if shape < 0.5:
        return Asked(("item AS k0", f"{nested} AS n1"), f"FROM c{a.where()}", before)
    if shape < 0.6:
        top = a.one(
            "n IN (SELECT max(n) FROM c)", "(2, n) IN (SELECT 2, min(n) FROM c)", "(n, item) IN (SELECT n, item FROM c)"
        )
        return Asked(("item AS k0", "n AS n1"), f"FROM c WHERE {top}", before, filtered=True)
    if shape < 0.75:
        exists = f"{a.one('', 'NOT ')}EXISTS (SELECT 1 FROM c d WHERE {compared})"
        return Asked(("item AS k0", "n AS n1"), f"FROM c WHERE {exists}", before, filtered=True)
    return Asked(("count(*) AS c0",), f"FROM c WHERE {nested} {a.one('>', '<=')} {a.rnd.randint(0, 6)}", before)


def joined_counts(a: Analyst) -> Asked:
    """Rows beside counts of their items."""
    counts = f"SELECT item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales GROUP BY item"
    before = f"WITH c AS ({counts})"
    if a.rnd.random() < 0.5:
        on = a.one("JOIN c ON c.item = s.item", "JOIN c USING (item)", "JOIN c ON s.item = c.item")
        column = a.one("c.n AS n1", "count(*) / c.n AS n1", "count(*) * 1.0 / nullif(c.n, 0) AS n1")
        return Asked(("s.item AS k0", column), f"FROM sales s {on}{a.where('s.item')} GROUP BY s.item, c.n", before)
    fixed = a.item()
    column = a.one("count(*) / c.n AS n1", "count(DISTINCT a.tid) - c.n AS n1")
    rows = "sales a JOIN sales b ON a.tid = b.tid AND b.item <> a.item JOIN c ON c.item = a.item"
    if a.rnd.random() < 0.6:
        return Asked(("b.item AS k0", column), f"FROM {rows} WHERE a.item = {fixed} GROUP BY b.item, c.n", before)
    return Asked(("a.item AS k0", "b.item AS k1", column), f"FROM {rows} GROUP BY a.item, b.item, c.n", before)


def shifted(a: Analyst) -> Asked:
    """Quotients of sums and differences of counts."""
    below = a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.test()})")
    above = a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.test()})", "sum(length(item))")
    top = a.one(f"{above} - {below}", f"{below} - {above}", f"{below} + 2 * {above}", f"2 * {below} - 3 * {above}")
    by = a.one(f"nullif({below}, 0)", below)
    return Asked((f"{a.one('', '100.0 * ', '1.0 * ')}({top}) / {by} AS n0",), f"FROM sales{a.where()}")


def of_each(a: Analyst) -> Asked:
    """Subqueries over persons that name columns of other rows around them."""
    near = a.one("node", "item")
    if near == "node":
        rows, key = a.one("(SELECT DISTINCT parent AS v FROM food) p", "(SELECT node AS v FROM food) p"), "p.v"
        inner = a.one("item IN (SELECT node FROM food f WHERE f.parent = p.v)", "item = p.v", "item <> p.v")
    else:
        rows, key = (
            a.one("(SELECT DISTINCT item AS v FROM sales) p", f"(SELECT DISTINCT unnest([{a.items()}]) AS v) p"),
            "p.v",
        )
        inner = a.one(
            "s.item = p.v", "s.item < p.v", "s.item <> p.v AND s.item > 'b'", f"s.item = p.v OR {a.test('s.item')}"
        )
    inner = a.one(inner, inner.replace("p.v", "v"))
    of = a.one(
        f"count(*) FROM sales s WHERE {inner}",
        f"count(DISTINCT s.tid) FROM sales s WHERE {inner}",
        f"count(*) FROM (SELECT s.tid FROM sales s WHERE {inner} GROUP BY s.tid HAVING count(*) > 1)",
        f"count(DISTINCT s.item) FROM sales s WHERE {inner} AND {a.test('s.item')}",
    )
    if a.rnd.random() < 0.3:
        exists = f"{a.one('', 'NOT ')}EXISTS (SELECT 1 FROM sales s WHERE {inner} AND {a.test('s.item')})"
        return Asked(("count(*) AS c0",), f"FROM {rows} WHERE {exists}")
    return Asked((f"{key} AS k0", f"(SELECT {of}) AS n1"), f"FROM {rows}")


def running_totals(a: Analyst) -> Asked:
    """Aggregates of the groups that come up to a group, in an order of counts."""
    way, other = a.one("", " DESC"), a.one("", " DESC")
    order = a.one(
        f"n{way}, item{other}", f"n{way}, item{other}", f"n{way}", f"length(item){other}, n{way}, item", f"-n{way}",
        f"length(item){other}",
    )  # fmt: skip
    frame = a.one("", "", " RANGE UNBOUNDED PRECEDING", " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
    frame = a.one(frame, frame, frame, " RANGE UNBOUNDED PRECEDING EXCLUDE GROUP")
    frame = a.one(frame, " ROWS UNBOUNDED PRECEDING", " ROWS 1 PRECEDING")
    call = a.one("sum(n)", "sum(n)", "count(*)", "avg(n)", "max(n)", "min(n)", "sum(n - 3)", "sum(2 - n)", "count(n)")
    call = a.one(call, call, f"{call} FILTER (WHERE {a.one(a.test(), f'n > {a.rnd.randint(0, 4)}')})")
    if a.rnd.random() < 0.2:
        call, frame = a.one("row_number()", "lag(n)", "lead(n)"), ""
    part = a.one("", "", "PARTITION BY length(item) ", "PARTITION BY left(item, 1) ")
    counts = f"SELECT item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales{a.where()} GROUP BY item"
    if a.rnd.random() < 0.4:
        having = a.one("", f" HAVING count(*) > {a.rnd.randint(0, 3)}")
        window = f"{call} OVER ({part}ORDER BY {order}{frame})".replace("count(n)", "count(*)").replace("n)", "count(*))")
        window = re.sub(r"\bn\b", "count(*)", window)
        return Asked(
            ("item AS k0", f"{window} AS n1"), f"FROM sales{a.where()} GROUP BY item{having}", filtered=bool(having)
        )
    window = f"{call} OVER ({part}ORDER BY {order}{frame})"
    met = a.one("", f" WHERE n > {a.rnd.randint(0, 4)}", f" WHERE {a.test()}")
    if a.rnd.random() < 0.3:
        case = f"CASE WHEN {window} > {a.rnd.randint(1, 9)} THEN 'a' ELSE 'b' END AS k"
        return Asked(
            ("k AS k0", "count(*) AS c1"), f"FROM (SELECT item, n, {case} FROM ({counts}){met}) GROUP BY k", filtered=True
        )
    return Asked(("item AS k0", f"{window} AS n1"), f"FROM ({counts}){met}", filtered="n >" in met)


def compared_groups(a: Analyst) -> Asked:
    """Groups beside all others: quantified comparisons, rows without a match, the number of one group, and powers."""
    counts = f"SELECT item, length(item) AS l, count(*) AS n FROM sales{a.where()} GROUP BY item"
    before, shape = f"WITH c AS ({counts})", a.rnd.random()
    sign, alike = (
        a.one(">", ">=", "<", "<="),
        a.one(" WHERE d.l = c.l", " WHERE d.l <> c.l", f" WHERE {a.test('d.item')}", ""),
    )
    shown = ("item AS k0", "n AS n1")
    if shape < 0.3:
        return Asked(shown, f"FROM c WHERE n {sign} {a.one('ALL', 'ANY')} (SELECT n FROM c d{alike})", before, filtered=True)
    if shape < 0.6:
        on = f"d.n {a.one('+ 1 ', '', '')}{sign} c.n{a.one('', ' AND d.l = c.l', ' AND d.item <> c.item')}"
        left = a.one("c", "c", "(SELECT item, price AS n, length(item) AS l FROM prices) c")
        where = f"d.{a.one('n', 'item', 'l')} IS NULL{a.one('', '', f' AND c.n > {a.rnd.randint(0, 3)}')}"
        if a.rnd.random() < 0.3:
            return Asked(("count(*) AS c0",), f"FROM {left} LEFT JOIN c d ON {on} WHERE {where}", before)
        shown = ("c.item AS k0", f"{'c.n AS n1' if left == 'c' else 'c.n AS k1'}")
        return Asked(shown, f"FROM {left} LEFT JOIN c d ON {on} WHERE {where}", before, filtered=True)
    one = f"(SELECT n FROM c WHERE item = {a.item()}{a.one('', '', f' AND n > {a.rnd.randint(0, 3)}')})"
    number = a.one(f"n / {one}", f"n - {one}", f"coalesce({one}, 0)", f"1.0 * {one} / n", f"({one} - n) ** 2")
    number = a.one(number, f"power(n - {a.rnd.randint(1, 5)}, {a.rnd.randint(0, 4)})", f"({one} - 2) ** 3")
    if a.rnd.random() < 0.3:
        return Asked(shown, f"FROM c WHERE n {sign} {one}", before, filtered=True)
    return Asked(("item AS k0", f"{number} AS n1"), "FROM c", before)


def ranks(a: Analyst) -> Asked:
    """Ranks of groups in an order of counts, and what is computed from them."""
    number = a.one("count(*)", "count(DISTINCT tid)")
    counts = f"SELECT item, length(item) AS l, {number} AS n FROM sales{a.where()} GROUP BY item"
    part, way = a.one("", "", "PARTITION BY l "), a.one("", " DESC", " DESC")
    order = a.one(f"n{way}", f"n{way}, item", f"l, n{way}", f"n / 2{way}", f"-n{way}, item DESC")
    call = a.one("rank()", "rank()", "row_number()" if "item" in order else "rank()")
    ranked, shape = f"{call} OVER ({part}ORDER BY {order})", a.rnd.random()
    if shape < 0.5:
        number = a.one(ranked, ranked, f"{ranked} / 2", f"n - {ranked}", f"2 * {ranked} + 1")
        return Asked(("item AS k0", f"{number} AS n1"), f"FROM ({counts}){a.one('', f' WHERE {a.test()}')}")
    before = f"WITH c AS (SELECT *, {ranked} AS r FROM ({counts}))"
    few = f"r {a.one('<=', '<', '>', '=')} {a.rnd.randint(1, 4)}"
    if shape < 0.75:
        total = a.one("sum(n)", "count(*)", "max(n)", f"count(*) FILTER (WHERE {few})")
        return Asked((f"{total} AS n0",), f"FROM c WHERE {few}", before)
    if shape < 0.9:
        near = f"d.n {a.one('>', '<=', '>=')} c.n{a.one('', ' AND d.l = c.l', ' AND d.item <> c.item')}"
        call = a.one("count(d.item)", "sum(d.n)", "max(d.n) - 1", "count(d.n) FILTER (WHERE d.l > 4)")
        call = a.one(call, call, "count(coalesce(d.n, 0))", "sum(CASE WHEN d.item IS NULL THEN 1 END)")
        having = a.one("", "", f" HAVING count(d.l) < {a.rnd.randint(1, 4)}")
        rows = f"FROM c LEFT JOIN c d ON {near} GROUP BY c.item{having}"
        return Asked(("c.item AS k0", f"{call} AS n1"), rows, f"WITH c AS ({counts})", filtered=bool(having))
    on = a.one("b.r = a.r + 1", "b.r < a.r AND b.l = a.l")
    return Asked((a.one("count(*) AS n0", "sum(a.n - b.n) AS n0"),), f"FROM c a JOIN c b ON {on}", before)


def parts_of_keys(a: Analyst) -> Asked:
    """Groups by an expression of both items of a self-join."""
    on = a.one("a.item <> b.item", "a.item < b.item", f"{a.test('a.item')}", f"a.item <> {a.item()}")
    key = a.one("least(a.item, b.item)", "a.item || b.item", "length(a.item) + length(b.item)", "a.item = b.item")
    column = a.one(
        "count(*) AS c1",
        "count(*) // 2 AS c1",
        "sum(length(a.item)) AS n1",
        f"count(*) FILTER (WHERE {a.test('b.item')}) AS c1",
    )
    having = a.one("", "", f" HAVING count(*) > {a.rnd.randint(0, 4)}")
    rows = f"FROM sales a JOIN sales b ON a.tid = b.tid AND {on} GROUP BY {a.one('k0', key, '1')}{having}"
    return Asked((f"{key} AS k0", column), rows, filtered=bool(having))


def lateral_rows(a: Analyst) -> Asked:
    """Rows of the same person beside each row."""
    met = a.one("t.item <> s.item", "t.item > s.item", a.test("t.item"), "true")
    left = a.one(", LATERAL ({}) l", " CROSS JOIN LATERAL ({}) l", " LEFT JOIN LATERAL ({}) l ON true")
    source = left.format(f"SELECT t.item{a.one('', ' AS item')} FROM sales t WHERE t.tid = s.tid AND {met}")
    where = a.one("", f" WHERE {a.test('s.item')}", f" WHERE {a.test('l.item')}")
    shown = a.one(("l.item AS k0", "count(*) AS c1"), ("s.item AS k0", "count(l.item) AS c1"))
    if a.rnd.random() < 0.3:
        return Asked(("count(*) AS c0",), f"FROM sales s{source}{where}")
    return Asked(shown, f"FROM sales s{source}{where} GROUP BY {shown[0].split(' ')[0]}")

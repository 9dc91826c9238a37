"""Random queries as analysts write them otherwise: places of rows, subqueries by item, LATERAL, ALL, division."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _sign(a: Analyst) -> str:
    return a.one("=", "<=", "<", ">", ">=", "<>")


def places(a: Analyst) -> Asked:
    """Numbers of the rows of each person."""
    rows = a.one(
        "sales", "sales", f"sales{a.where()}", "sales JOIN prices USING (item)", "(FROM sales UNION ALL FROM sales)"
    )
    priced = "prices" in rows
    order = a.one("ORDER BY item", "ORDER BY item DESC", "ORDER BY tid, item", "", "ORDER BY item DESC NULLS FIRST")
    order = a.one(order, "ORDER BY price DESC, item", "ORDER BY price NULLS LAST") if priced else order
    number = a.one("row_number()", "row_number()", "rank()", "dense_rank()")
    met = f"r {_sign(a)} {a.one('1', '1', '2', '3')}"
    key = a.one("item", "price" if priced else "item", "left(item, 1)")
    shown = f"tid, item{', price' if priced else ''}"
    table = f"SELECT {shown}, {number} OVER (PARTITION BY tid {order}) AS r FROM {rows}"
    inner = a.one(
        f"SELECT * FROM ({table}) WHERE {met}",
        f"{table} QUALIFY {met}",
        f"SELECT * FROM ({table}) WHERE {met}{a.one('', f' AND {a.test()}')}",
    )
    columns = a.one("count(*) AS c0", "count(DISTINCT tid) AS c0", "sum(r) AS n0", "avg(r) AS n0")
    if a.rnd.random() < 0.4:
        return Asked((f"{key} AS k1", columns), f"FROM ({inner}) GROUP BY {key}")
    if a.rnd.random() < 0.2:
        return Asked(("r AS k1", columns.replace("sum(r)", "sum(2)")), f"FROM ({inner}) GROUP BY r")
    if a.rnd.random() < 0.2:
        return Asked(
            ("m AS k1", "count(*) AS c0"),
            f"FROM (SELECT tid, {a.one('max', 'min')}(r) AS m FROM ({inner}) GROUP BY tid) GROUP BY m",
        )
    return Asked((columns,), f"FROM ({inner})")


def first_rows_of_persons(a: Analyst) -> Asked:
    """DISTINCT ON the id, and rows that no other row of the person comes before."""
    if a.rnd.random() < 0.5:
        inner = f"SELECT DISTINCT ON (tid) tid, item AS i FROM sales{a.where()} ORDER BY tid, item {a.one('', 'DESC')}"
    else:
        call = a.one("min", "max")
        alike = a.one(
            f"(SELECT {call}(item) FROM sales o WHERE o.tid = s.tid)",
            f"(SELECT {call}(o.item) FROM sales o WHERE s.tid = o.tid AND {a.test('o.item')})",
        )
        inner = f"SELECT tid, item AS i FROM sales s WHERE item {a.one('=', '<>', '>')} {alike}"
    if a.rnd.random() < 0.5:
        return Asked(("i AS k0", "count(*) AS c1"), f"FROM ({inner}){a.where('i')} GROUP BY i")
    return Asked((a.one("count(*) AS c0", "count(DISTINCT tid) AS c0"),), f"FROM ({inner}){a.where('i')}")


def by_item_of_row(a: Analyst) -> Asked:
    """Aggregates of a subquery over the rows with the item of a row."""
    call = a.one(
        "count(*)", "count(DISTINCT tid)", "count(DISTINCT o.tid)", "max(o.item)", f"count(*) FILTER (WHERE {a.test()})"
    )
    further = a.one("", "", f" AND {a.test('o.item')}", f" AND o.tid IN ({a.ids(1)})", f" AND {a.person('o', 1)}")
    nested = f"(SELECT {call} FROM sales o WHERE {a.one('o.item = s.item', 's.item = o.item')}{further})"
    met = f"{_sign(a)} {a.item()}" if call.startswith("max") else f"{_sign(a)} {a.rnd.randint(0, 9)}"
    if a.rnd.random() < 0.3 and not call.startswith("max"):
        return Asked(("s.item AS k0", f"{nested} AS n1"), f"FROM sales s{a.one('', f' WHERE {a.test()}')} GROUP BY s.item")
    if a.rnd.random() < 0.3 and not call.startswith("max"):
        return Asked(("DISTINCT item AS k0", f"{nested} AS n1"), f"FROM sales s{a.one('', f' WHERE {a.test()}')}")
    rows = a.one(
        "sales s",
        "sales s",
        "sales s JOIN prices USING (item)",
        f"sales s LEFT JOIN sales m ON m.tid = s.tid AND m.item = {a.item()}",
    )
    nested = nested.replace("s.item", "m.item") if "LEFT" in rows else nested
    test = f"{nested} {met}" + a.one("", f" AND {a.test('s.item')}", f" OR {a.test('s.item')}")
    group = a.rnd.random() < 0.3
    return Asked(
        (*(("s.item AS k1",) if group else ()), a.one("count(*) AS c0", "count(DISTINCT s.tid) AS c0")),
        f"FROM {rows} WHERE {test}{' GROUP BY s.item' if group else ''}",
        filtered=group,
    )


def beside_rows(a: Analyst) -> Asked:
    """LATERAL aggregates."""
    lateral = a.one(
        ", LATERAL ({}) l", " CROSS JOIN LATERAL ({}) l", " JOIN LATERAL ({}) l ON true", " LEFT JOIN LATERAL ({}) l ON true"
    )
    test = a.test("o.item")
    call = a.one(
        "count(*)", "count(DISTINCT o.tid)", f"count(*) FILTER (WHERE {test})", f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)"
    )
    shape = a.rnd.random()
    name = a.one("n", "l.n")
    if shape < 0.4:
        source = lateral.format(f"SELECT {call} AS n FROM sales o WHERE o.item = i.item")
        return Asked(("i.item AS k0", f"{name} AS n1"), f"FROM (SELECT DISTINCT item FROM sales{a.where()}) i{source}")
    if shape < 0.6:
        source = lateral.format(f"SELECT {call} AS n FROM sales o WHERE {test}")
        return Asked(
            ("c.item AS k0", f"c.c * 1.0 / nullif({name}, 0) AS n1"),
            f"FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) c{source}",
        )
    source = lateral.format(f"SELECT {call} AS n FROM sales o WHERE o.tid = p.tid")
    persons = a.one("(SELECT DISTINCT tid FROM sales)", f"(SELECT tid FROM sales{a.where()} GROUP BY tid)")
    return Asked(
        (a.one("count(*) AS c0", f"sum({name}) AS n0", f"avg({name}) AS n0"),),
        f"FROM {persons} p{source}{a.one('', f' WHERE {name} {_sign(a)} {a.rnd.randint(0, 3)}')}",
    )


def all_counts(a: Analyst) -> Asked:
    """Comparisons with all counts, and with none that is greater."""
    counts = f"SELECT item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales{a.where()} GROUP BY item"
    some = f"SELECT count(*) AS n FROM sales{a.where()} GROUP BY item"
    columns, sign = ("item AS k0", "n AS n1"), a.one(">=", ">", "<=", "<")
    if a.rnd.random() < 0.3:
        return Asked(
            ("item AS k0", "count(*) AS n1"), f"FROM sales GROUP BY item HAVING count(*) {sign} ALL ({some})", filtered=True
        )
    if a.rnd.random() < 0.4:
        return Asked(
            columns, f"FROM c WHERE n {sign} ALL ({a.one('SELECT n FROM c', some)})", f"WITH c AS ({counts})", filtered=True
        )
    compared = a.one(f"d.n {sign} c.n", f"c.n {sign} d.n")
    return Asked(
        columns,
        f"FROM c WHERE {a.one('NOT ', '')}EXISTS (SELECT {a.one('1', 'd.item', '*')} FROM c d WHERE {compared})",
        f"WITH c AS ({counts})",
        filtered=True,
    )


def division(a: Analyst) -> Asked:
    """Persons with all items of a list, or with some, by EXISTS over a table of the analyst."""
    parent = f"'{a.rnd.choice(a.parents)}'"
    values = ", ".join(f"({a.item()})" for _ in range(a.rnd.randint(1, 3)))
    rows, item = a.one(f"(VALUES {values}) v(i)|v.i", "food f|f.node", "prices p|p.item").split("|")
    known = f"f.parent = {parent} AND " if item == "f.node" else a.one("", "p.price > 2 AND ") if item == "p.item" else ""
    held = a.one(
        f"{a.one('', 'NOT ')}EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = {item})",
        f"EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = {item}{a.one('', f' AND {a.test()}')})",
    )
    counted = a.one("count(DISTINCT s.tid) AS c0", "count(*) AS c0")
    further = a.one("", f" AND {a.test('s.item')}")
    return Asked(
        (counted,),
        f"FROM sales s WHERE {a.one('NOT ', '')}EXISTS "
        f"(SELECT 1 FROM {rows} WHERE {known}{a.one('', 'NOT ')}{held}){further}",
    )


def lists_of_items(a: Analyst) -> Asked:
    """Set operations of lists of items, and different kinds of items of each person."""
    if a.rnd.random() < 0.5:
        sides = [
            f"SELECT item FROM sales{a.where()}"
            if a.rnd.random() < 0.5
            else f"SELECT s.item FROM sales s WHERE {a.person('s', 1)}"
            for _ in range(2)
        ]
        inner = f" {a.one('EXCEPT', 'INTERSECT', 'UNION')} ".join(sides)
        return (
            Asked(("count(*) AS c0",), f"FROM ({inner})")
            if a.rnd.random() < 0.6
            else Asked(("item AS k0",), f"FROM ({inner})", filtered=True)
        )
    kind = a.one(
        "left(item, 1)",
        "length(item)",
        "CASE WHEN item < 'c' THEN 'a' WHEN item < 'g' THEN 'b' WHEN item < 'm' THEN 'c' ELSE 'd' END",
    )
    inner = a.one(
        f"SELECT DISTINCT tid, {kind} AS x FROM sales{a.where()}",
        f"SELECT tid, {kind} AS x FROM sales{a.where()} GROUP BY tid, x",
        "SELECT DISTINCT tid, price AS x FROM sales JOIN prices USING (item)",
    )
    table = f"SELECT tid, {a.one('count(*)', 'count(x)')} AS k0 FROM ({inner}) GROUP BY tid"
    if a.rnd.random() < 0.5:
        return Asked(("k0", "count(*) AS c1"), f"FROM ({table}) GROUP BY k0")
    return Asked(
        (a.one("avg(k0) AS n0", "sum(k0) AS n0", "count(*) AS c0"),),
        f"FROM ({table}) WHERE k0 {_sign(a)} {a.rnd.randint(1, 3)}",
    )


def keys_of_prices(a: Analyst) -> Asked:
    """Groups by an extreme of a person's items, and rows with it."""
    call = a.one("max", "min")
    if a.rnd.random() < 0.5:
        return Asked(
            ("m AS k0", "count(*) AS c1"),
            f"FROM (SELECT tid, {call}(price) AS m FROM sales JOIN prices USING (item){a.where()} GROUP BY tid) GROUP BY m",
        )
    inner = f"SELECT tid, item, price, {call}(price) OVER (PARTITION BY tid) AS m FROM sales JOIN prices USING (item)"
    return Asked(
        (f"{a.one('price', 'item')} AS k0", "count(DISTINCT tid) AS c1"),
        f"FROM ({inner}) WHERE price {a.one('=', '<', '>=')} m GROUP BY k0",
    )


def classes(a: Analyst) -> Asked:
    """Groups by a CASE of counts, and distances from the first of an order."""
    counts = f"SELECT item, {a.one('count(*)', 'count(DISTINCT tid)')} AS n FROM sales{a.where()} GROUP BY item"
    one, two = a.rnd.randint(0, 9), a.rnd.randint(0, 9)
    case = a.one(
        f"CASE WHEN n > {one} THEN 'a' WHEN n >= {two} THEN 'b' ELSE 'c' END",
        f"if(n < {one}, 1, if(n <= {two}, 2, 3))",
        f"CASE WHEN n > {one} THEN 'a' WHEN n = {two} THEN 'b' END",
    )
    column = a.one("count(*) AS c1", "count(*) AS c1", "sum(n) AS n1", "max(n) AS n1")
    if a.rnd.random() < 0.3:
        order = a.one("n", "n DESC")
        return Asked(("item AS k0", f"first_value(n) OVER (ORDER BY {order}) - n AS n1"), f"FROM ({counts})")
    if a.rnd.random() < 0.5:
        return Asked((f"{case} AS k0", column), f"FROM ({counts}) GROUP BY 1", filtered=True)
    where = a.one("", "", f" WHERE n > {two}", " WHERE k IS NOT NULL")
    return Asked(("k AS k0", column), f"FROM (SELECT n, {case} AS k FROM ({counts})){where} GROUP BY k", filtered=True)


def parts_of_lists(a: Analyst) -> Asked:
    """Lists of a person's items and parts of them, sums of counts, different pairs, and rows beside other ones."""
    shape = a.rnd.random()
    if shape < 0.1:
        listed = [a.item() for _ in range(a.rnd.randint(1, 2))]
        falls, other = a.one("", " DESC"), a.one("=", "=", "<>")
        constant = ", ".join(sorted(listed, reverse=bool(falls)) if a.rnd.random() < 0.8 else listed)
        made = a.one(
            f"list(item ORDER BY item{falls})",
            f"array_agg(DISTINCT item ORDER BY item{falls})",
            f"{'list_reverse_sort' if falls else 'list_sort'}(list(item))",
        )
        rows = f"(SELECT tid, {made} AS l FROM sales{a.where()} GROUP BY tid)"
        return Asked(("count(*) AS c0",), f"FROM {rows} WHERE l {other} [{constant}]")
    if shape < 0.3:
        of = a.one(
            f"list_filter(l, lambda x: {a.test('x')})",
            f"list_intersect(l, [{a.items()}])",
            f"list_filter(l, lambda x: x = {a.item()})",
        )
        met = a.one(f"len({of}) {_sign(a)} {a.rnd.randint(0, 2)}", f"list_contains({of}, {a.item()})")
        return Asked(
            ("count(*) AS c0",), f"FROM (SELECT tid, list(item) AS l FROM sales{a.where()} GROUP BY tid) WHERE {met}"
        )
    if shape < 0.55:
        terms = [f"count(*) FILTER (WHERE {a.test()})" for _ in range(a.rnd.randint(2, 3))]
        total = " + ".join(terms) + a.one("", "", " - 1", " + 0.5")
        return Asked(
            ("count(*) AS c0",),
            f"FROM (SELECT tid, {total} AS k FROM sales{a.where()} GROUP BY tid) WHERE k {_sign(a)} {a.rnd.randint(0, 3)}",
        )
    if shape < 0.7:
        rows = a.one(f"sales{a.where()}", "sales JOIN prices USING (item)", "(FROM sales UNION ALL FROM sales)")
        return Asked((f"count(DISTINCT ({a.one('tid, item', 'item, tid')})) AS c0",), f"FROM {rows}")
    further = a.test("o.item")
    other = f"o.tid = s.tid AND o.item <> s.item{a.one('', f' AND {further}')}"
    test = f"{a.one('NOT ', '')}EXISTS (SELECT 1 FROM sales o WHERE {other}){a.one('', f' AND {a.test()}')}"
    if a.rnd.random() < 0.5:
        return Asked(("item AS k0", "count(*) AS c1"), f"FROM sales s WHERE {test} GROUP BY item")
    return Asked((a.one("count(*) AS c0", "count(DISTINCT tid) AS c0"),), f"FROM sales s WHERE {test}")

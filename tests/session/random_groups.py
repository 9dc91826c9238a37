# ruff: noqa: E501
"""Random queries over groups: arithmetic and windows of their numbers, groups up to others, first ones, chosen ones."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _groups(a: Analyst) -> str:
    """Groups of rows by an item, what is looked up for it, or its length, with numbers n, p and s."""
    key = a.one("item", "item", "length(item)", "price", "CASE WHEN length(item) > 4 THEN 'long' ELSE 'short' END")
    joined = f"sales {a.one('', 'LEFT ')}JOIN prices USING (item)"
    having = a.one("", "", f" HAVING count(*) > {a.rnd.randint(0, 3)}")
    numbers = "count(*) AS n, count(DISTINCT tid) AS p, sum(price) AS s"
    return f"SELECT {key} AS k, {numbers} FROM {joined}{a.where('sales.item')} GROUP BY {a.one('1', 'ALL')}{having}"


def over_groups(a: Analyst) -> Asked:
    """Arithmetic and windows of the numbers of groups."""
    groups, number = _groups(a), a.rnd.randint(0, 4)
    value = a.one(
        "s / n", "s / p", "n / p", "s * 1.0 / nullif(n, 0)", "n + p", "n - p", "100.0 * n / sum(n) OVER ()",
        "sum(n) OVER (ORDER BY k)", "sum(n) OVER (ORDER BY k DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        "sum(n) OVER (PARTITION BY k)", "sum(n) OVER (ORDER BY n DESC, k)", "sum(p) OVER (ORDER BY k)", "avg(n) OVER (ORDER BY k)",
        "avg(n) OVER (ORDER BY k ROWS 2 PRECEDING)", "sum(p) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        "max(n) OVER (ORDER BY k DESC ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)", "n - lag(n, 2) OVER (ORDER BY k)",
        "sum(n) OVER (ORDER BY k ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", "lead(n, 3) OVER (ORDER BY k)",
    )  # fmt: skip
    where = a.one("", "", f" WHERE n > {number}", f" WHERE s / n > {number} OR n < 2", " WHERE k IS NOT NULL")
    chosen = "n" in where.replace(" IS NOT NULL", "") or "HAVING" in groups
    columns = ("k AS k0", f"{value} AS n1", "n AS n2")
    if a.rnd.random() < 0.5:
        return Asked(columns, f"FROM c t{where}", f"WITH c AS ({groups})", filtered=chosen)
    return Asked(columns, f"FROM ({groups}) t{where}", filtered=chosen)


def groups_up_to(a: Analyst) -> Asked:
    """Sums over the groups up to each."""
    key, where = a.one("item", "length(item)"), a.where("item")
    groups = f"SELECT {key} AS k, count(*) AS n FROM sales{where} GROUP BY {key}"
    if a.rnd.random() < 0.4:
        groups = "SELECT m AS k, count(*) AS n FROM (SELECT tid, count(*) AS m FROM sales GROUP BY tid) GROUP BY ALL"
    on = a.one(
        "y.k <= x.k",
        "x.k <= y.k",
        "y.n >= x.n",
        "y.n > x.n OR y.n = x.n AND y.k <= x.k",
        "(-y.n, y.k) <= (-x.n, x.k)",
        "y.n > x.n",
        "x.n < y.n OR (x.k >= y.k AND x.n = y.n)",
    )
    value = a.one("sum(y.n)", "count(*)", "count(y.k)", "max(y.n)", "avg(y.n)", "sum(y.n) / count(*)")
    by = a.one("x.k", "x.k, x.n")
    if a.rnd.random() < 0.4:
        inner = f"(SELECT {value} FROM c y WHERE {on})"
        return Asked(("x.k AS k0", f"{inner} AS n1"), "FROM c x", f"WITH c AS ({groups})")
    joined = a.one(f"c x JOIN c y ON {on}", f"c x, c y WHERE {on}") if " OR " not in on else f"c x JOIN c y ON {on}"
    return Asked(("x.k AS k0", f"{value} AS n1"), f"FROM {joined} GROUP BY {by}", f"WITH c AS ({groups})", filtered=True)


def averages(a: Analyst) -> Asked:
    """Sums by numbers of rows and of persons."""
    below = a.one("count(DISTINCT tid)", "count(tid)", "count(*)", "nullif(count(DISTINCT tid), 0)")
    above = a.one("sum(price)", "sum(length(item))", "count(*)", "sum(CASE WHEN length(item) > 4 THEN 2 ELSE 1 END)")
    joined = f"sales {a.one('', 'LEFT ')}JOIN prices USING (item)"
    value = f"{above} / {below} AS n1"
    if a.rnd.random() < 0.4:
        return Asked((value, "count(*) AS c2"), f"FROM {joined}{a.where('sales.item')}")
    key = a.one("item", "length(item)", "price")
    return Asked((f"{key} AS k0", value), f"FROM {joined}{a.where('sales.item')} GROUP BY {a.one('1', key)}")


def prices_of_items(a: Analyst) -> Asked:
    """What is looked up for the item of a group."""
    of = a.one("max(price)", "min(price)", "any_value(price)", "count(*) * max(price)", "sum(price) - min(price)")
    joined = f"sales {a.one('', 'LEFT ')}JOIN prices USING (item)"
    return Asked(("item AS k0", f"{of} AS n1", "count(*) AS n2"), f"FROM {joined}{a.where('sales.item')} GROUP BY item")


def chosen_groups(a: Analyst) -> Asked:
    """Groups that a subquery of the same groups chooses."""
    number, sign = a.rnd.randint(0, 4), a.one("", "", "NOT ")
    inner = f"SELECT item FROM sales{a.one('', a.where())} GROUP BY item HAVING count(*) > {number}"
    rest = a.one("", f" AND {a.test()}", f" AND {a.person('sales')}")
    columns = ("item AS k0", "count(*) AS n1", "count(DISTINCT tid) AS n2")
    return Asked(columns, f"FROM sales WHERE item {sign}IN ({inner}){rest} GROUP BY item", filtered=True)


def first_groups(a: Analyst) -> Asked:
    """The first groups for each row of a table."""
    end = a.one("", f" ORDER BY count(*) DESC, item LIMIT {a.rnd.randint(1, 3)}")
    groups = f"SELECT item, count(*) AS n FROM sales JOIN food ON node = item WHERE parent = v.p{a.one('', f' AND {a.test()}')} GROUP BY item{end}"
    listed = ", ".join(f"('{p}')" for p in a.parents[:3])
    columns = ("v.p AS k0", "t.item AS k1", "t.n AS n2")
    return Asked(columns, f"FROM (VALUES {listed}) v(p), LATERAL ({groups}) t", filtered=True, limit=" " if end else "")


def outer_chains(a: Analyst) -> Asked:
    """Persons who have one item, who also have a second, and a third."""
    of = [f"(SELECT {a.one('', 'DISTINCT ')}tid FROM sales WHERE {a.test()} GROUP BY tid) {name}" for name in "abc"]
    joins = f"{a.one('LEFT', 'FULL')} JOIN {of[1]} ON b.tid = a.tid"
    columns = [
        "count(a.tid) AS c0",
        "count(b.tid) AS c1",
        "count(*) FILTER (WHERE a.tid = b.tid) AS c2",
        "count(*) FILTER (WHERE a.tid IS NULL) AS c3",
        "count(*) FILTER (WHERE a.tid <> b.tid) AS c4",
    ]
    if a.rnd.random() < 0.7:
        other = a.one("b.tid", "a.tid", "coalesce(a.tid, b.tid)", "coalesce(b.tid, a.tid)")
        joins += f" {a.one('LEFT', 'FULL', 'RIGHT')} JOIN {of[2]} ON c.tid = {other}"
        columns += ["count(c.tid) AS c5", "count(*) FILTER (WHERE c.tid = a.tid) AS c6"]
    return Asked(tuple(a.rnd.sample(columns, 3)), f"FROM {of[0]} {joins}")


def companions(a: Analyst) -> Asked:
    """The different items beside an item, with those who have it alone."""
    on = a.one(f"b.item {a.one('<>', '<', '>')} a.item", a.test("b.item"))
    rows = f"FROM sales a {a.one('LEFT ', 'LEFT ', '')}JOIN sales b ON b.tid = a.tid AND {on}"
    columns = ["count(DISTINCT b.item) AS n1", "count(b.item) AS n2", "count(DISTINCT b.tid) AS n3"]
    if a.rnd.random() < 0.3:
        return Asked(tuple(a.rnd.sample(columns, 2)), rows)
    return Asked(("a.item AS k0", *a.rnd.sample(columns, 2)), f"{rows} GROUP BY a.item")


def joined_groups(a: Analyst) -> Asked:
    """Two numbers of the same groups, of which a join has both in a row."""
    key = a.one("item", "length(item)")
    one, two = (f"SELECT {key} AS k, {n} AS {c} FROM sales{a.where()} GROUP BY {key}" for n, c in zip(
        (a.one("count(*)", "count(DISTINCT tid)"), a.one("count(*)", "sum(length(item))", "min(length(item))")), "nm", strict=True))  # fmt: skip
    if a.inline or not a.records or a.rnd.random() < 0.3:
        how = a.one("JOIN y USING (k)", "JOIN y ON y.k = x.k", "LEFT JOIN y ON y.k = x.k")
    else:
        key = a.one("town", "age // 10", "day")
        one = f"SELECT {key} AS k, {a.one('count(*)', 'sum(age)')} AS n FROM records GROUP BY 1"
        rows = a.one(
            "records JOIN sales USING (tid)",
            "sales s JOIN records r ON r.tid = s.tid",
            "records r JOIN sales USING (tid) JOIN prices USING (item)",
        )
        number = a.one("sum(price)", "count(*)") if "prices" in rows else a.one("count(*)", "sum(length(item))")
        two = f"SELECT {key} AS k, {number} AS m FROM {rows}{a.where()} GROUP BY 1"
        how = a.one("JOIN y USING (k)", "JOIN y ON y.k = x.k", "LEFT JOIN y ON y.k = x.k")
    value = a.one("m / n", "coalesce(m, 0) / n", "n - m", "coalesce(y.m, 0)", "m")
    met = a.one("", "", " WHERE y.m IS NOT NULL", " WHERE x.n > 2")
    swapped = a.rnd.random() < 0.3 and "LEFT" not in how
    sources = f"y {how.replace('JOIN y', 'JOIN x')}" if swapped else f"x {how}"
    return Asked(
        ("x.k AS k0", f"{value} AS n1", "n AS n2"), f"FROM {sources}{met}", f"WITH x AS ({one}), y AS ({two})", filtered=True
    )


def attribute_groups(a: Analyst) -> Asked:
    """Groups by attributes, with averages, running totals, and those that a subquery chooses."""
    key = a.one("town", "age // 10", "day")
    counted = a.one("count(*)", "count(DISTINCT tid)", "count(tid)")
    groups = f"SELECT {key} AS k, {counted} AS n, sum(age) AS s FROM records GROUP BY 1"
    shape = a.rnd.random()
    if shape < 0.3:
        value = a.one("s / n", "100.0 * n / sum(n) OVER ()", "sum(n) OVER (ORDER BY k)", "n * 1.0 / (SELECT sum(n) FROM c)")
        return Asked(("k AS k0", f"{value} AS n1"), "FROM c", f"WITH c AS ({groups})")
    if shape < 0.5:
        on = a.one("y.k <= x.k", "y.n > x.n OR y.n = x.n AND y.k <= x.k", "(-y.n, y.k) <= (-x.n, x.k)", "y.n >= x.n")
        return Asked(
            ("x.k AS k0", "sum(y.n) AS n1"),
            f"FROM c x JOIN c y ON {on} GROUP BY x.k",
            f"WITH c AS ({groups})",
            filtered=True,
        )
    if shape < 0.75:
        inner = f"SELECT town FROM records GROUP BY town HAVING count(*) >= {a.rnd.randint(1, 4)}"
        met = f"{a.one('', f'{a.value()} AND ')}town {a.one('', 'NOT ')}IN ({inner})"
        return Asked(
            ("town AS k0", f"{counted} AS n1", "avg(age) AS n2"), f"FROM records WHERE {met} GROUP BY town", filtered=True
        )
    value = a.one(
        "sum(age) / count(DISTINCT tid)",
        "sum(age) / count(tid)",
        "count(*) / count(DISTINCT tid)",
        "sum(length(item)) / count(DISTINCT tid)",
    )
    by = a.one("item", "town", "length(item)")
    return Asked((f"{by} AS k0", f"{value} AS n1"), f"FROM records JOIN sales USING (tid) GROUP BY {by}")

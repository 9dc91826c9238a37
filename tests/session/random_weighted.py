"""Random queries of scores of persons: sums of weights of their items, with other numbers where there are none."""

from __future__ import annotations

from session.random_analyst import Analyst, Asked


def _weight(a: Analyst) -> str:
    return a.one("1", "1", "2", "3", "0", "(-1)", "1.5", "0.25", "2::DOUBLE", "NULL")


def _scores(a: Analyst) -> str:
    """A query with the number ``v`` of each person."""
    if a.rnd.random() < 0.3:
        rows = "sales s LEFT JOIN prices p ON p.item = s.item"
        number = a.one("sum(p.price)", "sum(p.price) FILTER (WHERE p.price > 2)", "sum(coalesce(p.price, 0))")
    elif a.rnd.random() < 0.4:
        listed = dict.fromkeys(a.item() for _ in range(a.rnd.randint(1, 4)))
        values = ", ".join(f"({item}, {a.rnd.randint(-1, 3)})" for item in listed)
        rows, number = f"sales s LEFT JOIN (VALUES {values}) w(item, weight) ON w.item = s.item", "sum(w.weight)"
    else:
        cases = " ".join(f"WHEN {a.item()} THEN {_weight(a)}" for _ in range(a.rnd.randint(1, 4)))
        rows, number = "sales s", f"sum(CASE s.item {cases} {a.one('', 'ELSE 0', 'ELSE 0', 'ELSE 1')} END)"
    filled = a.one(number, f"coalesce({number}, 0)", f"coalesce({number}, {a.one('0', '1', '-1', '0.5')})")
    if a.rnd.random() < 0.3:
        inner = filled.replace(number, f"(SELECT {number} FROM {rows} WHERE s.tid = b.tid)")
        return f"SELECT b.tid, {inner} AS v FROM (SELECT DISTINCT tid FROM sales) b"
    return f"SELECT s.tid, {filled} AS v FROM {rows}{a.where('s.item')} GROUP BY s.tid"


def weighted_scores(a: Analyst) -> Asked:
    """Numbers of persons by their score, and aggregates of scores."""
    rows, shape = f"FROM ({_scores(a)})", a.rnd.random()
    one, two = sorted(a.rnd.randint(-1, 9) for _ in range(2))
    if shape < 0.4:
        key = a.one("v", "v", "coalesce(v, 0)", "v + 1", "v % 2")
        return Asked((f"{key} AS k0", "count(*) AS c1"), f"{rows} GROUP BY 1")
    if shape < 0.6:
        key = f"CASE WHEN v < {one} THEN 'low' WHEN v < {two} THEN 'mid' ELSE 'high' END"
        return Asked((f"{key} AS k0", a.one("count(*) AS c1", "count(DISTINCT tid) AS c1")), f"{rows} GROUP BY 1")
    if shape < 0.8:
        met = f"{a.one('v', 'coalesce(v, 0)')} {a.one('=', '<', '<=', '>', '>=', '<>')} {one}"
        return Asked(("count(*) AS c0",), f"{rows} WHERE {a.one(met, f'v BETWEEN {one} AND {two}', 'v IS NULL')}")
    return Asked((a.one("avg(v) AS n0", "sum(v) AS n0", "max(v) AS n0", "avg(coalesce(v, 0)) AS n0"),), rows)


def outer_joins(a: Analyst) -> Asked:
    """FULL JOIN of ids, and what its sides are where they have no row."""
    sides = " FULL JOIN ".join(f"(SELECT {a.one('', 'DISTINCT ')}tid FROM sales{a.where()}) {n}" for n in "ab")
    met = a.one(
        "", " WHERE a.tid IS NULL", " WHERE a.tid IS NULL OR b.tid IS NULL", " WHERE coalesce(a.tid, b.tid) IS NOT NULL"
    )
    rows = f"FROM {sides} ON a.tid = b.tid{met}"
    both = "a.tid IS NOT NULL AND b.tid IS NOT NULL"
    if a.rnd.random() < 0.3:
        return Asked(
            ("item AS k0", "count(*) AS c1"),
            f"FROM sales JOIN (SELECT DISTINCT coalesce(a.tid, b.tid) AS tid {rows}) USING (tid) GROUP BY item",
        )
    return Asked(
        a.numbers(
            lambda: a.one(
                "count(*)",
                f"count(CASE WHEN {both} THEN 1 END)",
                "count(coalesce(a.tid, b.tid))",
                "count(a.tid)",
                f"count(*) FILTER (WHERE {both})",
                "count(DISTINCT coalesce(b.tid, a.tid))",
                f"count(CASE WHEN {both} THEN 1 END)::DOUBLE / nullif(count(*), 0)",
                f"sum(({both})::INTEGER)",
                f"avg(CASE WHEN {both} THEN 1 ELSE 0 END)",
                "count(DISTINCT CASE WHEN a.tid IS NULL THEN b.tid END)",
            )
        ),
        rows,
    )


def lists_of_values(a: Analyst) -> Asked:
    """Lists of categories or of texts of a person's items, and which of some constants they have."""
    rows, value = a.one("sales JOIN food ON node = item|parent", "sales|left(item, 1)", "sales|upper(item)").split("|")
    made = a.one(f"list({value})", f"array_agg(DISTINCT {value})", f"list({value} ORDER BY item)")
    texts = [f"'{a.rnd.choice([*a.parents, 'm', 'b', 'MILK'])}'" for _ in range(a.rnd.randint(1, 2))]
    met = a.one(
        f"list_contains(l, {texts[0]})",
        f"{texts[0]} = ANY(l)",
        f"list_has_any(l, [{', '.join(texts)}])",
        f"list_has_all(l, [{', '.join(texts)}])",
        f"list_has_all([{', '.join(texts)}], l)",
    )
    return Asked(
        ("count(*) AS c0",),
        f"FROM (SELECT tid, {made} AS l FROM {rows}{a.where()} GROUP BY tid) WHERE {a.one('', 'NOT ')}{met}",
    )

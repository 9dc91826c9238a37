"""Random queries of all kinds that analysts write, over the tables of ``random_releases``.

The names of the columns say what they are: ``k`` a key of the row, ``c`` a count of rows or ids, which is 0 where the original
has no such row, ``n`` another computed number, ``b`` a condition, ``r`` a rank, which is by estimates and not compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from session.random_releases import TOWNS, UNHELD, Original, literal


@dataclass(frozen=True)
class Asked:
    """A query in parts, so that a failure can be shown with one column alone."""

    columns: tuple[str, ...]  # each with its name
    rest: str  # from FROM on
    before: str = ""  # WITH ...
    filtered: bool = False  # whether a condition on a count keeps rows
    limit: str = ""  # ORDER BY and LIMIT, by which the original may choose other rows

    @property
    def sql(self) -> str:
        return f"{self.truth} {self.limit}".strip()

    @property
    def truth(self) -> str:
        return f"{self.before} SELECT {', '.join(self.columns)} {self.rest}".strip()

    def only(self, names: set[str]) -> Asked:
        """The query with the named columns alone, and those that it orders by."""
        kept = (c for c in self.columns if c.split()[-1] in {*names, *self.limit.split()})
        return replace(self, columns=tuple(kept))


def _is_count(text: str) -> bool:
    """Whether an expression is a single COUNT, and so 0 where there is no row."""
    inner = text.split(" FILTER ")[0]
    return inner.startswith("count(") and inner.find(")") == len(inner) - 1 or text == "count(*)"


class Analyst:
    """Writes queries."""

    def __init__(self, rnd: random.Random, original: Original) -> None:
        self.rnd = rnd
        self.held = original.items
        self.records = bool(original.records)
        self.ages = [r[0] for r in original.records.values() if r[0] is not None] or [20]
        self.days = [r[2] for r in original.records.values() if r[2] is not None]
        self.parents = sorted(set(original.tree.values()))
        self._names = (f"x{n}" for n in count())

    def ask(self, kind: str) -> Asked:
        return KINDS[kind](self)

    def kinds(self) -> list[str]:
        return [kind for kind in KINDS if self.records or kind not in ON_RECORDS_NAMES]

    # Conditions

    def one(self, *choices: str) -> str:
        return self.rnd.choice(choices)

    def item(self) -> str:
        return literal(self.rnd.choice(self.held if self.rnd.random() < 0.93 else UNHELD))

    def items(self) -> str:
        return ", ".join(self.item() for _ in range(self.rnd.randint(1, 4)))

    def test(self, column: str = "item", depth: int = 1) -> str:
        """A condition on the item of a row."""
        shape = self.rnd.random()
        if depth and shape < 0.25:
            one, two = self.test(column, depth - 1), self.test(column, depth - 1)
            return self.one(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        if shape < 0.7:
            return self.one(f"{column} = {self.item()}", f"{column} IN ({self.items()})")
        if shape < 0.98:
            return self.one(
                f"{column} <> {self.item()}", f"{column} NOT IN ({self.items()})", f"{column} LIKE 'b%'",
                f"{column} ILIKE 'M%'", f"{column} NOT LIKE '%e%'", f"{column} LIKE '%s'", f"{column} ^@ 'm'",
                f"starts_with({column}, 'b')", f"{column} IS NOT NULL", f"{column} = ANY([{self.items()}])",
            )  # fmt: skip
        return self.one(
            f"contains({column}, 'i')", f"{column} LIKE 'b\\_%' ESCAPE '\\'", f"{column} BETWEEN 'b' AND 'e'",
            f"{column} < {self.item()}", f"lower({column}) = 'milk'", f"length({column}) > 4", f"{column} >= 'd'",
        )  # fmt: skip

    def value(self, name: str = "") -> str:
        """A condition on a person's attributes."""
        dot, age, day = f"{name}." if name else "", self.rnd.choice(self.ages), literal(self.rnd.choice(self.days))
        if self.rnd.random() < 0.25:
            one, two = self.value(name), self.value(name)
            return self.one(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        town, other = literal(self.rnd.choice(TOWNS)), literal(self.rnd.choice(TOWNS))
        return self.one(
            f"{dot}age >= {age}", f"{dot}age BETWEEN {age - 3} AND {age + 4}", f"{dot}age = {age}", f"{dot}age < {age}",
            f"{dot}town = {town}", f"{dot}town IN ({town}, {other})", f"{dot}town <> {town}", f"{dot}town IS NULL",
            f"{dot}age IS NOT NULL", f"{dot}day = {day}", f"{dot}day > {day}", f"{dot}day <= {day}",
            f"{dot}age NOT IN ({age}, {age + 1})", f"{dot}town IS DISTINCT FROM {town}",
        )  # fmt: skip

    def person(self, name: str, depth: int = 2) -> str:
        """A condition on the person of a row of sales."""
        shape, inner = self.rnd.random(), depth - 1
        if not depth or shape < 0.15:
            return self.test(f"{name}.item")
        if shape < 0.35:
            one, two = self.person(name, inner), self.person(name, inner)
            return self.one(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        if shape < 0.65:
            return f"{name}.tid {self.one('', 'NOT ')}IN ({self.ids(inner)})"
        other = next(self._names)
        return (
            f"{self.one('', 'NOT ')}EXISTS (SELECT {self.one('1', '*', f'{other}.tid')} FROM sales {other} "
            f"WHERE {other}.tid = {name}.tid AND {self.person(other, inner)})"
        )

    def ids(self, depth: int = 1) -> str:
        """A query of ids."""
        shape, a, b = self.rnd.random(), next(self._names), next(self._names)
        if depth and shape < 0.2:
            kind = self.one("UNION", "INTERSECT", "EXCEPT", "UNION ALL")
            return f"{self.ids(depth - 1)} {kind} {self.ids(depth - 1)}"
        if depth and shape < 0.35:
            return (
                f"SELECT {a}.tid FROM sales {a} {self.one('JOIN', 'SEMI JOIN', 'ANTI JOIN')} "
                f"(SELECT tid FROM sales {b} WHERE {self.test(f'{b}.item')}) {b} ON {a}.tid = {b}.tid "
                f"WHERE {self.test(f'{a}.item')}"
            )
        if shape < 0.6:
            return f"SELECT tid FROM sales GROUP BY tid HAVING {self.having()}"
        if self.records and shape < 0.75:
            return f"SELECT tid FROM records WHERE {self.value()}"
        return f"SELECT {self.one('', 'DISTINCT ')}{a}.tid FROM sales {a} WHERE {self.test(f'{a}.item')}"

    def having(self, depth: int = 1) -> str:
        """A condition on the rows of a person."""
        shape, n = self.rnd.random(), self.rnd.randint(0, 4)
        if depth and shape < 0.35:
            one, two = self.having(depth - 1), self.having(depth - 1)
            return self.one(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        if shape < 0.6:
            return self.one(f"bool_or({self.test()})", f"bool_and({self.test()})", f"NOT bool_or({self.test()})")
        number = self.one(
            "count(*)", "count(DISTINCT item)", f"count(*) FILTER (WHERE {self.test()})", f"count_if({self.test()})",
            f"sum(CASE WHEN {self.test()} THEN 1 ELSE 0 END)", "count(item)",
        )  # fmt: skip
        return self.one(f"{number} {self.one('>', '>=', '=', '<', '<=', '<>')} {n}", f"{number} BETWEEN {n} AND {n + 1}")

    # Numbers

    def number(self, column: str = "item", tid: str = "tid") -> str:
        """An aggregate of rows of sales."""
        test = self.test(column)
        return self.one(
            "count(*)", "count(*)", f"count(DISTINCT {tid})", f"count(*) FILTER (WHERE {test})",
            f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)", f"count(CASE WHEN {test} THEN 1 END)",
            f"count(DISTINCT CASE WHEN {test} THEN {tid} END)", f"sum(({test})::INTEGER)", f"count_if({test})",
            f"count(DISTINCT {tid}) FILTER (WHERE {test})", f"count({column})", f"sum({test})",
            f"sum(CASE WHEN {test} THEN {self.rnd.randint(-3, 5)} ELSE {self.rnd.randint(-2, 2)} END)",
            f"sum(CASE WHEN {test} THEN {self.rnd.randint(-3, 5)} WHEN {self.test(column)} THEN 2 END)",
            "sum(1)", f"sum(2) FILTER (WHERE {test})", self.rare_number(column),
        )  # fmt: skip

    def rare_number(self, column: str) -> str:
        test = self.test(column)
        if self.rnd.random() < 0.5:
            return f"count(DISTINCT CASE WHEN {test} THEN tid END)"
        return self.one(
            f"avg(CASE WHEN {test} THEN 1 ELSE 0 END)", f"avg(({test})::INTEGER)", f"count(DISTINCT {column})",
            f"count(DISTINCT {column}) FILTER (WHERE {test})", f"max(CASE WHEN {test} THEN 1 ELSE 0 END)",
            f"min(CASE WHEN {test} THEN 1 ELSE 2 END)",
        )  # fmt: skip

    def counting(self, column: str = "item", tid: str = "tid") -> str:
        """An aggregate that is 0 where there is no row."""
        test = self.test(column)
        return self.one(
            "count(*)", "count(*)", f"count(DISTINCT {tid})", f"count(*) FILTER (WHERE {test})", f"count({column})",
            f"count(CASE WHEN {test} THEN 1 END)", f"count(DISTINCT CASE WHEN {test} THEN {tid} END)",
        )  # fmt: skip

    def arithmetic(self, make: Callable[[], str], depth: int = 2) -> str:
        """An expression over aggregates or other numbers."""
        if not depth or self.rnd.random() < (0.15 if depth == 1 else 0.6):
            return make() if self.rnd.random() < 0.85 else self.one("1", "2", "100", "0.5", "(-3)", "0", "100.0")
        a, b = self.arithmetic(make, depth - 1), self.arithmetic(make, depth - 1)
        if self.rnd.random() < 0.05:
            return self.one(f"({a}) % 3", f"({a}) // 2", f"nullif({a}, {b})", f"sign({a})", f"({a}) ** 2", f"ln(abs({a}) + 1)")
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"{a} / {b}", f"{a} * 1.0 / {b}", f"100.0 * {a} / nullif({b}, 0)",
            f"round({a}, 1)", f"abs({a})", f"greatest({a}, {b})", f"least({a}, {b})", f"coalesce({a}, {b})", f"-({a})",
            f"CASE WHEN {a} > {b} THEN {a} ELSE {b} END", f"CASE WHEN {a} = {b} THEN 1 END", f"CAST({a} AS DOUBLE)",
            f"({a})::INTEGER", f"floor({a})", f"ceil({a} / 3)", f"sqrt(abs({a}))", f"({a} - {b}) * ({a} - {b})",
            f"CASE WHEN {a} BETWEEN 1 AND 5 THEN {a} WHEN {b} > 3 THEN -({b}) ELSE 0 END", f"if({a} > 2, {a}, {b})",
        )  # fmt: skip

    def condition(self, make: Callable[[], str], depth: int = 1) -> str:
        """A condition on aggregates."""
        shape = self.rnd.random()
        if depth and shape < 0.3:
            one, two = self.condition(make, depth - 1), self.condition(make, depth - 1)
            return self.one(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        a, n = make(), self.rnd.randint(0, 12)
        if shape < 0.8:
            return f"{a} {self.one('>', '>=', '=', '<', '<=', '<>')} {n}"
        return self.one(
            f"{a} BETWEEN {n} AND {n + 4}", f"{a} > {make()}", f"{a} * 2 >= {make()}", f"{a} IN ({n}, {n + 1}, 3)",
            f"{a} IS NOT NULL", f"{a} = {make()}", f"{a} NOT BETWEEN {n} AND {n + 2}", f"({a} > {n}) IS TRUE",
            f"{a} IS DISTINCT FROM {n}", f"coalesce({a}, 0) < {n}",
        )  # fmt: skip

    def numbers(self, make: Callable[[], str], most: int = 3) -> tuple[str, ...]:
        """Some computed columns; a count that is 0 without rows is named c."""
        found = []
        for n in range(self.rnd.randint(1, most)):
            text = make()
            found.append(f"{text} AS {'c' if _is_count(text) else 'n'}{n}")
        return tuple(found)

    def where(self, column: str = "item") -> str:
        return f" WHERE {self.test(column)}" if self.rnd.random() < 0.5 else ""

    def ordered(self, *by: str) -> str:
        order = f"ORDER BY {self.one(*by)}{self.one('', ' DESC', ' DESC NULLS LAST')}"
        return order + (f" LIMIT {self.rnd.randint(1, 4)}" if self.rnd.random() < 0.6 else "")

    def labelled(self, column: str = "item") -> str:
        """A grouping of items by an expression."""
        return self.one(
            f"CASE WHEN {self.test(column)} THEN 'one' ELSE 'other' END",
            f"CASE WHEN {self.test(column)} THEN 'one' WHEN {self.test(column)} THEN 'two' ELSE 'other' END",
            f"CASE WHEN {self.test(column)} THEN 'one' WHEN {self.test(column)} THEN 'two' END",
            f"lower({column})", f"left({column}, 1)", f"length({column})", f"{column} IN ({self.items()})",
            f"({column} LIKE 'm%')", f"upper({column})", f"substr({column}, 1, 2)", f"if({self.test(column)}, 1, 0)",
        )  # fmt: skip


def counts(a: Analyst) -> Asked:
    return Asked(a.numbers(a.number, 4), f"FROM sales{a.where()}")


def ratios(a: Analyst) -> Asked:
    return Asked(a.numbers(lambda: a.arithmetic(a.number), 2), f"FROM sales{a.where()}")


def conditions(a: Analyst) -> Asked:
    columns = [f"{a.condition(a.number)} AS b0", f"bool_or({a.test()}) AS b1", f"bool_and({a.test()}) AS b2"]
    columns.append(f"{a.condition(lambda: a.arithmetic(a.number, 1))} AS b3")
    return Asked(tuple(a.rnd.sample(columns, 2)), f"FROM sales{a.where()}")


def persons(a: Analyst) -> Asked:
    columns = a.rnd.sample(["count(DISTINCT x.tid) AS c0", "count(*) AS c1"], a.rnd.randint(1, 2))
    return Asked(tuple(columns), f"FROM sales x WHERE {a.person('x')}")


def ids(a: Analyst) -> Asked:
    table = a.ids(2)
    if a.rnd.random() < 0.4:
        table = f"{a.ids(1)} {a.one('INTERSECT', 'EXCEPT', 'UNION', 'UNION ALL', 'INTERSECT ALL', 'EXCEPT ALL')} {a.ids(1)}"
    counted = a.one("count(*)", "count(*)", "count(DISTINCT tid)", "count(tid)")
    return Asked((f"{counted} AS c0",), f"FROM ({table}) q")


def having_persons(a: Analyst) -> Asked:
    where = a.where()
    return Asked(("count(*) AS c0",), f"FROM (SELECT tid FROM sales{where} GROUP BY tid HAVING {a.having()}) q")


def lists(a: Analyst) -> Asked:
    aggregate = a.one("list(item)", "array_agg(item)", "list(DISTINCT item)")
    test = a.one(
        f"list_contains(items, {a.item()})", f"list_has_any(items, [{a.items()}])", f"list_has_all(items, [{a.items()}])",
        f"list_contains(items, {a.item()}) AND NOT list_contains(items, {a.item()})", f"len(items) > {a.rnd.randint(0, 4)}",
    )  # fmt: skip
    return Asked(
        ("count(*) AS c0",), f"FROM (SELECT tid, {aggregate} AS items FROM sales{a.where()} GROUP BY tid) WHERE {test}"
    )


def _persons_table(a: Analyst, columns: int) -> str:
    flags = [f"bool_or({a.test()}) AS k{n}" for n in range(columns)]
    return f"SELECT tid, {', '.join(flags)} FROM sales{a.where()} GROUP BY tid"


def crosstabs(a: Analyst) -> Asked:
    n = a.rnd.randint(1, 2)
    keys = tuple(f"k{i}" for i in range(n))
    before = f"WITH p AS ({_persons_table(a, n)})"
    counted = ("count(*) AS c0", *(("count(DISTINCT tid) AS c1",) if a.rnd.random() < 0.3 else ()))
    if a.rnd.random() < 0.3:
        return Asked((*keys, "count(*) * 100.0 / sum(count(*)) OVER () AS n1"), f"FROM p GROUP BY {', '.join(keys)}", before)
    return Asked((*keys, *counted), f"FROM p GROUP BY {', '.join(keys)}", before)


def flags(a: Analyst) -> Asked:
    """Aggregates of a table of booleans of persons."""

    def number() -> str:
        return a.one(
            "count(*)", "count_if(k0)", "count_if(k0 AND k1)", "count(*) FILTER (WHERE k0 AND NOT k1)", "sum(k0::INTEGER)",
            "avg(k1::INTEGER)", "sum(CASE WHEN k0 OR k1 THEN 1 ELSE 0 END)", "count(CASE WHEN k1 THEN tid END)",
        )  # fmt: skip

    where = a.one("", "", " WHERE k0", " WHERE k0 OR NOT k1")
    return Asked(a.numbers(lambda: a.arithmetic(number, 1)), f"FROM p{where}", f"WITH p AS ({_persons_table(a, 2)})")


def labels(a: Analyst) -> Asked:
    parts = [f"SELECT '{n}' AS k0, {a.number()} AS n0 FROM sales{a.where()}" for n in range(1, a.rnd.randint(2, 4))]
    first = Asked(("'0' AS k0", f"{a.number()} AS n0"), f"FROM sales{a.where()}")
    return replace(first, rest=" UNION ALL ".join([first.rest, *parts]) + a.one("", " ORDER BY 2", " ORDER BY k0"))


def scalars(a: Analyst) -> Asked:
    def scalar() -> str:
        return f"(SELECT {a.number()} FROM sales{a.where()})"

    return Asked(a.numbers(lambda: a.arithmetic(scalar, a.rnd.randint(0, 2)), 2), "")


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
    many = f"SELECT item FROM sales{a.where()} GROUP BY item HAVING {a.condition(a.counting)}"
    test = a.one(f"item IN ({many})", f"item NOT IN ({many})", f"item IN (SELECT item FROM sales{a.where()})")
    if a.rnd.random() < 0.5:
        return Asked(a.numbers(a.counting, 2), f"FROM sales WHERE {test}")
    return Asked(("item AS k0", *a.numbers(a.counting, 2)), f"FROM sales WHERE {test} GROUP BY item")


def listed_sets(a: Analyst) -> Asked:
    """Sets of listed items."""
    one, two = (
        a.one(f"SELECT item FROM sales{a.where()} GROUP BY item HAVING {a.condition(a.counting)}", f"SELECT DISTINCT item FROM sales{a.where()}")
        for _ in range(2)
    )
    kind = a.one("UNION", "EXCEPT", "INTERSECT")
    if a.rnd.random() < 0.5:
        return Asked(("count(*) AS c0",), f"FROM ({one} {kind} {two})")
    return Asked(("item AS k0",), f"FROM ({one} {kind} {two})", filtered=True)


def odd(a: Analyst) -> Asked:
    """Seldom used forms."""
    item, number = a.item(), a.counting()
    return a.rnd.choice([
        Asked((f"{number} AS c0",), f"FROM sales{a.where()} HAVING {a.condition(a.counting)}", filtered=True),
        Asked(("item AS k0", "count(*) AS c0"), f"FROM sales{a.where()} GROUP BY GROUPING SETS ((item), ())"),
        Asked(("item AS k0", "count(*) AS c0"), f"FROM sales{a.where()} GROUP BY ROLLUP (item)"),
        Asked(("item AS k0", f"{number} AS c0"), "FROM sales GROUP BY item", limit=f"ORDER BY item LIMIT 3 OFFSET {a.rnd.randint(0, 2)}"),
        Asked((f'"sales"."ITEM" AS k0', "COUNT(*) AS c0"), 'FROM "sales" GROUP BY "sales"."ITEM"'),
        Asked(("s.item AS k0", "count(s.tid) AS c0"), f"FROM main.sales AS s WHERE s.item = {item} GROUP BY 1"),
        Asked(("k0", "n0"), f"FROM (SELECT item AS k0, {number} AS n0 FROM sales{a.where()} GROUP BY item UNION ALL SELECT 'all', count(*) FROM sales)"),
        Asked(("k0", "sum(n) AS n0"), f"FROM (SELECT item AS k0, {number} AS n FROM sales{a.where()} GROUP BY item UNION ALL SELECT item, count(*) FROM sales GROUP BY item) GROUP BY k0"),
        Asked((f"median(n) AS n0",), f"FROM (SELECT item, {number} AS n FROM sales{a.where()} GROUP BY item)"),
        Asked((f"count(*) AS c0",), f"FROM (SELECT DISTINCT n FROM (SELECT item, {number} AS n FROM sales GROUP BY item))"),
        Asked(("n AS k0", "count(*) AS c0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) GROUP BY n"),
        Asked((f"(SELECT count(*) FROM sales s WHERE s.item = q.item) AS n0", "q.item AS k0"), "FROM (SELECT DISTINCT item FROM sales) q"),
        Asked((f"count(*) AS c0",), f"FROM sales a, sales b WHERE a.tid = b.tid AND a.item = {item} AND {a.test('b.item')}"),
        Asked((f"sum(p.n * q.n) AS n0",), "FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) p JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) q ON p.item <> q.item"),
        Asked((f"p.item AS k0", "q.item AS k1", "p.n - q.n AS n0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) p JOIN (SELECT item, count(*) AS n FROM sales{a.where()} GROUP BY item) q ON p.n > q.n", filtered=True),
        Asked((f"p.item AS k0", "q.n AS n0"), f"FROM (SELECT item, {number} AS n FROM sales GROUP BY item) p LEFT JOIN (SELECT item, count(*) AS n FROM sales{a.where()} GROUP BY item HAVING count(*) > 3) q ON p.item = q.item"),
        Asked((f"p.item AS k0",), f"FROM (SELECT DISTINCT item FROM sales) p ANTI JOIN (SELECT item FROM sales{a.where()} GROUP BY item HAVING count(*) > 3) q ON p.item = q.item", filtered=True),
        Asked((f"p.item AS k0",), f"FROM (SELECT DISTINCT item FROM sales) p WHERE NOT EXISTS (SELECT 1 FROM sales q WHERE q.item = p.item AND q.tid IN ({a.ids(0)}))", filtered=True),
        Asked((f"{number} AS c0", f"{number} * (SELECT count(*) FROM sales) AS n1"), f"FROM sales{a.where()} ORDER BY 1 LIMIT 1"),
        Asked(("item AS k0", f"count(*) FILTER (WHERE tid IN ({a.ids(0)})) AS c0"), "FROM sales GROUP BY item"),
        Asked((f"count(*) FILTER (WHERE tid IN ({a.ids(1)})) AS c0", f"count(DISTINCT tid) FILTER (WHERE tid NOT IN ({a.ids(0)})) AS c1"), "FROM sales"),
    ])  # fmt: skip


def windows(a: Analyst) -> Asked:
    over, part = a.one("sum(count(*)) OVER ()", "max(count(*)) OVER ()", "min(count(*)) OVER ()"), a.counting()
    columns = [
        f"{part} * 100.0 / {over} AS n0", f"{over} AS n1", "count(*) OVER () AS n2", "avg(count(*)) OVER () AS n5",
        "count(*) - lag(count(*), 1, 0) OVER (ORDER BY item) AS n3", "sum(count(*)) OVER (ORDER BY item) AS n4",
        f"rank() OVER (ORDER BY {part} DESC) AS r0", "row_number() OVER (ORDER BY count(*) DESC) AS r1",
        f"sum({part}) OVER (PARTITION BY left(item, 1)) AS n6",
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


def exists(a: Analyst) -> Asked:
    test = f"EXISTS (SELECT 1 FROM sales x WHERE {a.person('x', 1)})"
    number = f"(SELECT count(*) FROM sales{a.where()})"
    return Asked((f"{a.one('', 'NOT ')}{test} AS b0", f"CASE WHEN {test} THEN {number} ELSE 0 END AS n0"), "")


def joins(a: Analyst) -> Asked:
    kind = a.one("LEFT JOIN", "SEMI JOIN", "ANTI JOIN", "JOIN", "JOIN")
    one, two = (f"SELECT DISTINCT tid FROM sales{a.where()}" for _ in range(2))
    if kind in ("SEMI JOIN", "ANTI JOIN"):
        return Asked(("count(*) AS c0",), f"FROM m {kind} b USING (tid)", f"WITH m AS ({one}), b AS ({two})")
    counted = a.numbers(lambda: a.one("count(*)", "count(b.tid)", "count(b.tid) * 1.0 / count(*)", "count(m.tid)"))
    if a.rnd.random() < 0.5:
        rest = f"FROM m {kind} b ON m.tid = b.tid{a.one('', '', ' WHERE b.tid IS NULL')}"
        return Asked(counted, rest, f"WITH m AS ({one}), b AS ({two})")
    test = f"{a.test('m.item')} AND {a.test('b.item')}" if kind == "JOIN" else a.test("m.item")
    return Asked(("count(DISTINCT m.tid) AS c0",), f"FROM sales m {kind} sales b ON m.tid = b.tid WHERE {test}")


def priced(a: Analyst) -> Asked:
    shape = a.rnd.random()
    join = a.one("JOIN prices USING (item)", "JOIN prices ON sales.item = prices.item", "LEFT JOIN prices USING (item)")
    if shape < 0.3:
        columns = a.numbers(lambda: a.one("sum(price)", "avg(price)", "count(*)", "max(price)", "count(DISTINCT tid)"), 2)
        test = a.one("", f" WHERE {a.test('sales.item')}", " WHERE price > 1", " WHERE price IS NULL")
        return Asked(columns, f"FROM sales {join}{test}")
    if shape < 0.5:
        inner = f"SELECT tid, sum(price) AS v FROM sales {join} GROUP BY tid"
        return Asked(a.numbers(lambda: a.one("avg(v)", "sum(v)", "max(v)", "min(v)", "count(*)"), 2), f"FROM ({inner})")
    if shape < 0.65:
        test = a.one("sum(price) > 3", "sum(price) <= 2", "max(price) >= 2", "sum(price) = 0", "avg(price) > 1")
        return Asked(("count(*) AS c0",), f"FROM (SELECT tid FROM sales {join} GROUP BY tid HAVING {test})")
    if shape < 0.85:
        inner = f"SELECT item, {a.counting()} AS n FROM sales{a.where()} GROUP BY item"
        columns = ("q.item AS k0", "n * price AS n0", "n AS n1")
        return Asked(columns, f"FROM ({inner}) q {a.one('JOIN', 'LEFT JOIN')} prices USING (item)")
    number = a.one("sum(n * price)", "sum(n)", "max(n * price)", "avg(price)")
    return Asked((f"{number} AS n0",), f"FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN prices USING (item)")


def categories(a: Analyst) -> Asked:
    parent, shape = literal(a.rnd.choice(a.parents)), a.rnd.random()
    if shape < 0.5:
        columns = ("parent AS k0", *a.numbers(lambda: a.counting("sales.item"), 2))
        return Asked(columns, f"FROM sales JOIN food ON item = node{a.where()} GROUP BY parent")
    if shape < 0.8:
        test = a.one(f"JOIN food ON item = node WHERE parent = {parent}", f"JOIN food f ON f.node = sales.item AND parent = {parent}")
        return Asked(a.numbers(a.counting, 2), f"FROM sales {test}")
    test = f"item {a.one('', 'NOT ')}IN (SELECT node FROM food WHERE parent = {parent})"
    return Asked(a.numbers(a.counting, 2), f"FROM sales WHERE {test}")


def sizes(a: Analyst) -> Asked:
    having = f" HAVING {a.having()}" if a.rnd.random() < 0.3 else ""
    inner = f"SELECT tid, {a.one('count(*)', 'count(DISTINCT item)', f'count_if({a.test()})')} AS n FROM sales{a.where()} GROUP BY tid{having}"
    if a.rnd.random() < 0.3:
        return Asked(("n AS k0", "count(*) AS c0"), f"FROM ({inner}) GROUP BY n")
    numbers = a.numbers(lambda: a.one("avg(n)", "sum(n)", "max(n)", "min(n)", "count(*)", "count_if(n > 2)", "sum(n * n)"))
    return Asked(numbers, f"FROM ({inner}){a.one('', '', ' WHERE n > 1', ' WHERE n = 2')}")


def pairs(a: Analyst) -> Asked:
    join = f"FROM sales a JOIN sales b ON a.tid = b.tid AND a.item {a.one('<', '<', '<>')} b.item"
    where = a.one("", f" WHERE {a.test('a.item')}", f" WHERE {a.test('a.item')} AND {a.test('b.item')}")
    if a.rnd.random() < 0.3:
        return Asked(("count(*) AS n0",), join + where)
    having = f" HAVING count(*) >= {a.rnd.randint(1, 5)}" if a.rnd.random() < 0.3 else ""
    columns = ("a.item AS k0", "b.item AS k1", a.one("count(*) AS c0", "count(DISTINCT a.tid) AS c0"))
    limit = a.ordered("c0", "3") if a.rnd.random() < 0.5 and not having else ""
    return Asked(columns, f"{join}{where} GROUP BY a.item, b.item{having}", filtered=bool(having), limit=limit)


def attributes(a: Analyst) -> Asked:
    columns = a.numbers(lambda: a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.value()})", f"count_if({a.value()})"))
    if a.rnd.random() < 0.5:
        return Asked(columns, f"FROM records{a.one('', f' WHERE {a.value()}')}")
    where = a.one(f"{a.test()} AND {a.value()}", a.value(), f"{a.test()} OR {a.value()}")
    return Asked(columns, f"FROM sales JOIN records USING (tid) WHERE {where}")


def attribute_groups(a: Analyst) -> Asked:
    key = a.one("town", "town", "age", "day", "age // 10 * 10", "dayname(day)", "age >= 25", "date_trunc('month', day)", "age IS NULL")
    where = a.one("", f" WHERE {a.value()}")
    columns = (f"{key} AS k0", *a.numbers(lambda: a.one("count(*)", "count(DISTINCT tid)", f"count(*) FILTER (WHERE {a.value()})", "count(*) * 2"), 2))
    if a.rnd.random() < 0.5:
        return Asked(columns, f"FROM records{where} GROUP BY {key}")
    if a.rnd.random() < 0.3:
        return Asked(("item AS k0", *columns[1:]), f"FROM sales JOIN records USING (tid) WHERE {a.value()} GROUP BY item")
    return Asked(columns, f"FROM sales JOIN records USING (tid) WHERE {a.test()} GROUP BY {key}")


def attribute_averages(a: Analyst) -> Asked:
    number = a.one("avg(age)", "sum(age)", "min(age)", "max(age)", "count(age)", "count(DISTINCT town)", "max(day)", "count(town)")
    where = a.one("", f" WHERE {a.value()}", f" WHERE tid IN ({a.ids(1)})")
    if a.rnd.random() < 0.3:
        return Asked(("town AS k0", f"{number} AS n0"), f"FROM records{where} GROUP BY town")
    return Asked((f"{number} AS n0",), f"FROM records{where}")


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


ON_RECORDS = (attributes, attribute_groups, attribute_averages, attribute_persons)
PLAIN = (
    counts, ratios, conditions, persons, ids, having_persons, lists, crosstabs, flags, labels, scalars, results, listing,
    listing_persons, listing_arithmetic, listing_conditions, having, filtered, groupings, nested, nested_groups, ordered, tops,
    chosen_items, listed_sets, odd,
    windows, qualified, distinct, exists, joins, priced, categories, sizes, pairs,
)  # fmt: skip
KINDS: dict[str, Callable[[Analyst], Asked]] = {make.__name__: make for make in (*PLAIN, *ON_RECORDS)}
ON_RECORDS_NAMES = {make.__name__ for make in ON_RECORDS}

"""Parts of random queries that analysts write, over the tables of ``random_releases``.

The names of the columns say what they are: ``k`` a key of the row, ``c`` a count of rows or ids, which is 0 where the
original has no such row, ``n`` another computed number, ``b`` a condition, ``r`` a rank, which is by estimates and not
compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from session.random_releases import FIRST_DAY, TOWNS, UNHELD, Original, literal
from sqlglot import exp, parse_one


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
    return (inner.startswith("count(") and inner.find(")") == len(inner) - 1) or text == "count(*)"


class Analyst:
    """Writes queries."""

    def __init__(self, rnd: random.Random, original: Original) -> None:
        self.rnd = rnd
        self.held = original.items
        self.records, self.inline, self.weeks = bool(original.records), original.inline, bool(original.weeks)
        self.ages = [r[0] for r in original.records.values() if r[0] is not None] or [20]
        self.days = [r[2] for r in original.records.values() if r[2] is not None] or [FIRST_DAY]
        self.repeated = len({item for item, _ in original.prices}) < len(original.prices)
        self.parents = sorted(set(original.tree.values()))
        self._names = (f"x{n}" for n in count())

    # Conditions

    def one(self, *choices: str) -> str:
        return self.rnd.choice(choices)

    def item(self) -> str:
        return literal(self.rnd.choice(self.held if self.rnd.random() < 0.93 else [*UNHELD, *self.parents]))

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
        if shape < 0.97:
            return self.one(
                f"{column} <> {self.item()}", f"{column} NOT IN ({self.items()})", f"{column} LIKE 'b%'",
                f"{column} ILIKE 'M%'", f"{column} NOT LIKE '%e%'", f"{column} LIKE '%s'", f"{column} ^@ 'm'",
                f"starts_with({column}, 'b')", f"{column} IS NOT NULL", f"{column} = ANY([{self.items()}])",
            )  # fmt: skip
        return self.one(
            f"contains({column}, 'i')", f"{column} LIKE 'b\\_%' ESCAPE '\\'", f"{column} BETWEEN 'b' AND 'e'",
            f"{column} < {self.item()}", f"lower({column}) = 'milk'", f"length({column}) > 4", f"{column} >= 'd'",
            f"regexp_matches({column}, '^m|e')", f"regexp_matches(upper({column}), 'm.*', 'i')",
            f"{column} SIMILAR TO '[a-d].*'",
            f"NOT regexp_full_match({column}, 'b[aeiou]?.*')",
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
            f"{dot}town {self.one('', 'NOT ')}LIKE {literal(town[1:3] + '%')}", f"upper({dot}town) <= upper({town})",
            f"{dot}age // 10 * 10 = {age // 10 * 10}", f"dayname({dot}day) = dayname({day})", f"{dot}age % 3 < 1",
            f"coalesce({dot}town, 'none') = {town}", f"nullif({dot}age, {age}) > {age - 2}", f"{dot}age + 1 <> {age}",
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
            return self.one(
                f"({a}) % 3", f"({a}) // 2", f"nullif({a}, {b})", f"sign({a})", f"({a}) ** 2", f"ln(abs({a}) + 1)"
            )
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
            texts = [make() for _ in range(4)]  # a constant alone has a row for each person
            text = next((text for text in texts if parse_one(text, dialect="duckdb").find(exp.AggFunc)), texts[0])
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

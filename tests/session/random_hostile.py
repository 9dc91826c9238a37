"""Random queries that read persons in odd ways: copies joined in any order and side, subqueries several levels deep,
comparisons of two copies, names used twice, DISTINCT, set operations, windows and LIMIT in odd places."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, count

from session.random_analyst import Analyst, Asked

ID, ITEM, NUMBER, AGE, TOWN, FLAG = "id", "item", "number", "age", "town", "flag"
Columns = dict[str, str]
"""The kinds of columns, by their names."""


@dataclass
class Source:
    """What FROM names: its alias and its columns."""

    alias: str
    columns: Columns

    def of(self, *kinds: str) -> list[str]:
        return [f"{self.alias}.{name}" for name, kind in self.columns.items() if kind in kinds]


@dataclass
class Scope:
    """The sources that conditions may name, those of the query itself first."""

    sources: list[Source] = field(default_factory=list)
    outer: Scope | None = None

    def of(self, *kinds: str, around: bool = False) -> list[str]:
        found = [name for source in self.sources for name in source.of(*kinds)]
        return found + (self.outer.of(*kinds, around=True) if around and self.outer is not None else [])


class Hostile:
    """Writes queries; ``depth`` limits how deep they are nested."""

    def __init__(self, analyst: Analyst) -> None:
        self.a, self.rnd, self.one = analyst, analyst.rnd, analyst.one
        self._names = count()
        self.ctes: list[tuple[str, str, Columns]] = []

    def chance(self, p: float) -> bool:
        return self.rnd.random() < p

    def name(self, letter: str = "s") -> str:
        return f"{letter}{next(self._names)}"

    # Sources

    def source(self, depth: int, outer: Scope | None = None) -> tuple[str, Source]:
        """A source of rows of persons, as text with its alias."""
        alias = self.name()
        if depth <= 0 or self.chance(0.5):
            if self.a.records and not self.a.inline and self.chance(0.3):
                return f"records {alias}", Source(alias, {"tid": ID, "age": AGE, "town": TOWN})
            more = {"age": AGE, "town": TOWN} if self.a.inline else {}
            return f"sales {alias}", Source(alias, {"tid": ID, "item": ITEM, **more})
        if self.ctes and self.chance(0.4):
            name, _, columns = self.rnd.choice(self.ctes)
            return f"{name} {alias}", Source(alias, columns)
        text, columns = self.persons(depth - 1, outer if self.chance(0.15) else None)
        if self.chance(0.15):  # other names for the columns
            named = {self.name("c"): kind for kind in columns.values()}
            return f"({text}) {alias}({', '.join(named)})", Source(alias, named)
        return f"({text}) {alias}", Source(alias, columns)

    def persons(self, depth: int, outer: Scope | None = None) -> tuple[str, Columns]:
        """A query whose rows belong to persons, with its columns; the first one is the id."""
        shape = self.rnd.random()
        if depth > 0 and shape < 0.15:
            kind = self.one("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
            sides = [self.plain(depth - 1, outer, 1 if kind != "UNION ALL" else 2) for _ in range(2)]
            if list(sides[0][1].values()) == list(sides[1][1].values()):
                return f"{sides[0][0]} {kind} {sides[1][0]}", sides[0][1]
            return sides[0]
        if shape < 0.45:
            return self.by_person(depth, outer)
        return self.plain(depth, outer)

    def plain(self, depth: int, outer: Scope | None = None, width: int = 0) -> tuple[str, Columns]:
        """A SELECT of the id and other columns."""
        text, scope = self.joined(depth, outer)
        ids = scope.of(ID)
        shown = [self.rnd.choice(ids)]
        for _ in range(width - 1 if width else self.rnd.randint(0, 2)):
            shown.append(self.rnd.choice(scope.of(ITEM, NUMBER, FLAG, AGE, TOWN) or ids))
        columns: Columns = {}
        listed = []
        for n, one in enumerate(shown):
            kind = self.kind(scope, one)
            name = "tid" if n == 0 else self.name(kind[0])
            columns[name] = kind
            listed.append(f"{one} AS {name}")
        if not width and self.chance(0.15):
            name = self.name("f")
            columns[name] = FLAG
            listed.append(f"{self.condition(scope, depth - 1)} AS {name}")
        distinct = self.one("", "", "DISTINCT ")
        return f"SELECT {distinct}{', '.join(listed)} {text}", columns

    def by_person(self, depth: int, outer: Scope | None = None) -> tuple[str, Columns]:
        """A SELECT that groups by the id."""
        text, scope = self.joined(depth, outer)
        key = self.rnd.choice(scope.of(ID))
        columns: Columns = {"tid": ID}
        listed = [f"{key} AS tid"]
        for _ in range(self.rnd.randint(0, 2)):
            number, kind = self.per_person(scope, depth - 1)
            name = self.name("n")
            columns[name] = kind
            listed.append(f"{number} AS {name}")
        having = f" HAVING {self.having(scope, depth - 1)}" if self.chance(0.4) else ""
        return f"SELECT {', '.join(listed)} {text} GROUP BY {key}{having}", columns

    @staticmethod
    def kind(scope: Scope, column: str) -> str:
        alias, name = column.split(".")
        return next(s.columns[name] for s in scope.sources if s.alias == alias)

    def joined(self, depth: int, outer: Scope | None = None) -> tuple[str, Scope]:
        """FROM with joins, and WHERE."""
        text, source = self.source(depth, outer)
        scope = Scope([source], outer)
        text, late = f"FROM {text}", list[str]()
        for _ in range(self.one_of(0, 0, 0, 1, 1, 2)):
            if self.chance(0.25) and scope.of(ITEM):
                text += self.known(scope)
                continue
            more, added = self.source(depth, outer)
            mine, theirs = self.rnd.choice(scope.of(ID)), self.rnd.choice(added.of(ID))
            equal = f"{mine} = {theirs}" if self.chance(0.5) else f"{theirs} = {mine}"
            if self.chance(0.15):
                text += f", {more}"
                late.append(equal)
                scope.sources.append(added)
                continue
            sides = ["JOIN"] * 10 + ["LEFT JOIN"] * 6 + ["SEMI JOIN", "ANTI JOIN"] * 2 + ["RIGHT JOIN", "FULL JOIN"]
            side = self.one(*sides)
            both = Scope([*scope.sources, added], outer)
            if self.chance(0.15) and "tid" in added.columns and len(scope.sources) == 1 and "tid" in source.columns:
                text += f" {side} {more} USING (tid)"
            else:
                on = equal if self.chance(0.6) else f"{equal} AND {self.condition(both, depth - 1)}"
                on = on if self.chance(0.9) else f"{self.condition(both, 0)} AND {equal}"
                text += f" {side} {more} ON {on}"
            if side[:4] not in ("SEMI", "ANTI"):
                scope.sources.append(added)
        where = [*late, *(self.condition(scope, depth - 1) for _ in range(self.one_of(0, 1, 1, 2)))]
        self.rnd.shuffle(where)
        return text + (f" WHERE {' AND '.join(where)}" if where else ""), scope

    def one_of(self, *numbers: int) -> int:
        return self.rnd.choice(numbers)

    def known(self, scope: Scope) -> str:
        """A join with a table of the analyst's."""
        item, alias = self.rnd.choice(scope.of(ITEM)), self.name("k")
        side = self.one("JOIN", "JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN")
        shape = self.rnd.random()
        if shape < 0.35:
            text, key, columns = f"food {alias}", "node", {"parent": TOWN}
        elif shape < 0.6:
            text, key, columns = f"prices {alias}", "item", {"price": NUMBER}
        else:
            rows = ", ".join(
                f"({self.maybe_null(self.a.item())}, {self.one_of(0, 1, 2, 3)})" for _ in range(self.one_of(1, 2, 3))
            )
            text, key, columns = f"(VALUES {rows}) {alias}(it, v)", "it", {"v": NUMBER}
        if side[:4] not in ("SEMI", "ANTI"):
            scope.sources.append(Source(alias, columns))
        more = f" AND {self.a.test(item, 0)}" if self.chance(0.2) else ""
        return f" {side} {text} ON {alias}.{key} = {item}{more}"

    def maybe_null(self, text: str) -> str:
        return "NULL" if self.chance(0.1) else text

    # Conditions

    def condition(self, scope: Scope, depth: int) -> str:
        """A condition on the rows of a scope."""
        shape = self.rnd.random()
        if depth > 0 and shape < 0.22:
            one, two = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return self.one(
                f"({one} AND {two})",
                f"({one} OR {two})",
                f"(NOT ({one}))",
                f"(({one}) = ({two}))",
                f"(({one}) IS TRUE)",
                f"(({one}) IS NOT FALSE)",
                f"(({one}) IS NULL)",
                f"CASE WHEN {one} THEN {two} END",
                f"CASE WHEN {one} THEN {two} ELSE {self.one('true', 'false', 'NULL')} END",
                f"coalesce({one}, {two})",
                f"(NOT ({one} AND {two}))",
                f"if({one}, {two}, NULL)",
            )
        if depth > 0 and shape < 0.5:
            return self.subquery(scope, depth - 1)
        return self.simple(scope)

    def simple(self, scope: Scope) -> str:
        items, numbers = scope.of(ITEM, around=self.chance(0.3)), scope.of(NUMBER, around=self.chance(0.3))
        ages, flags, towns = scope.of(AGE), scope.of(FLAG), scope.of(TOWN)
        made = []
        if len(items) > 1:
            one, two = self.rnd.sample(items, 2)
            sign = self.one("<", "<>", "=", ">", "<=", ">=", "<", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
            made += [f"{one} {sign} {two}"] * 2
        if items:
            item = self.rnd.choice(items)
            made += [self.a.test(item, 0)] * 3
            made += [
                f"{item} IS NULL",
                f"{item} IS NOT NULL",
                f"{item} = NULL",
                f"{item} IN ({self.a.items()}, NULL)",
                f"{item} NOT IN ({self.a.items()}, NULL)",
                f"coalesce({item}, 'none') = {self.a.item()}",
            ]
        if numbers:
            number = self.rnd.choice(numbers)
            made += [f"{number} {self.one('>', '>=', '=', '<', '<=', '<>')} {self.one_of(0, 1, 1, 2, 3)}"] * 3
            made += [f"{number} IS NULL", f"coalesce({number}, 0) < 2", f"{number} % 2 = 0", f"{number} NOT IN (1, NULL)"]
            if len(numbers) > 1:
                one, two = self.rnd.sample(numbers, 2)
                made += [f"{one} {self.one('<', '=', '>=', '<>')} {two}"] * 2
        made += [f"{flag}{self.one('', ' IS NULL', ' IS NOT TRUE', ' = false')}" for flag in flags]
        made += [f"{age} {self.one('>=', '<', '=', '<>')} {self.rnd.choice(self.a.ages)}" for age in ages]
        made += [f"{age} IS NULL" for age in ages] + [f"{town} {self.one('=', '<>')} 'Cork'" for town in towns]
        made += [f"{town} IS {self.one('', 'NOT ')}NULL" for town in towns]
        ids = scope.of(ID)
        if len(ids) > 1 or not made:
            made += [f"{self.rnd.choice(ids)} IS {self.one('', 'NOT ')}NULL"]
        return self.rnd.choice(made)

    def subquery(self, scope: Scope, depth: int) -> str:
        """A condition with a subquery about a person."""
        ids = scope.of(ID, around=self.chance(0.2))
        mine, shape = self.rnd.choice(ids), self.rnd.random()
        if shape < 0.35:
            text, inner = self.joined(depth, scope)
            link = f"{self.rnd.choice(inner.of(ID))} = {mine}"
            shown = self.one("1", "*", "NULL", mine, "DISTINCT 1", "count(*)", "max(1)") if self.chance(0.3) else "1"
            late = self.one(*[""] * 6, " LIMIT 1", " LIMIT 0")
            return f"{self.one('', 'NOT ')}EXISTS (SELECT {shown} {self.also(text, link)}{late})"
        if shape < 0.7:
            query, columns = self.persons(depth, scope if self.chance(0.3) else None)
            if len(columns) > 1:
                alias = self.name("q")
                query = f"SELECT {alias}.tid FROM ({query}) {alias}"
            return f"{mine} {self.one('', 'NOT ')}IN ({query})"
        if shape < 0.8 and scope.of(ITEM):
            item = self.rnd.choice(scope.of(ITEM))
            text, inner = self.joined(depth, scope)
            items = inner.of(ITEM)
            if items:
                linked = self.also(text, f"{self.rnd.choice(inner.of(ID))} = {mine}")
                return f"{item} {self.one('IN', 'NOT IN', '= ANY', '<> ALL')} (SELECT {self.rnd.choice(items)} {linked})"
        text, inner = self.joined(depth, scope)
        number, kind = self.per_person(inner, depth - 1)
        number = number if kind == NUMBER else "count(*)"
        if inner.of(NUMBER) and self.chance(0.2):
            number = self.rnd.choice(inner.of(NUMBER))
        late = self.one(*[""] * 8, f" HAVING {number} > 1", " LIMIT 1", " OFFSET 1")
        link = f"{self.rnd.choice(inner.of(ID))} = {mine}"
        compared = self.one("IS NULL", *(f"{sign} {n}" for sign in (">", ">=", "=", "<", "<>") for n in (0, 1, 2)))
        return f"(SELECT {number} {self.also(text, link)}{late}) {compared}"

    @staticmethod
    def also(text: str, condition: str) -> str:
        """FROM, with one more condition."""
        depths = accumulate({"(": 1, ")": -1}.get(letter, 0) for letter in text)
        here = any(not depth and text.startswith(" WHERE ", place) for place, depth in enumerate(depths))
        return f"{text} {'AND' if here else 'WHERE'} {condition}"

    def having(self, scope: Scope, depth: int) -> str:
        number, kind = self.per_person(scope, depth)
        if kind == TOWN:
            return f"{number} {self.one('<', '>=', '=')} {self.a.item()}"
        if kind == FLAG:
            return self.one(number, f"NOT {number}", f"({number}) IS NULL")
        made = f"{number} {self.one('>', '>=', '=', '<', '<=', '<>')} {self.one_of(0, 1, 1, 2, 3)}"
        if self.chance(0.25):
            return f"{made} {self.one('AND', 'OR')} {self.having(scope, depth)}"
        return made

    def per_person(self, scope: Scope, depth: int) -> tuple[str, str]:
        """An aggregate of the rows of a person, and its kind."""
        items, numbers, test = scope.of(ITEM), scope.of(NUMBER), self.condition(scope, min(depth, 1))
        made = [
            ("count(*)", NUMBER),
            (f"count(*) FILTER (WHERE {test})", NUMBER),
            (f"bool_or({test})", FLAG),
            (f"bool_and({test})", FLAG),
            (f"sum(CASE WHEN {test} THEN {self.one_of(1, 2, -1)} ELSE {self.one('0', 'NULL', '1')} END)", NUMBER),
            (f"count(CASE WHEN {test} THEN {self.one_of(1, 2)} END)", NUMBER),
            (f"max(CASE WHEN {test} THEN 1 ELSE 0 END)", NUMBER),
            (f"coalesce(sum({self.one_of(1, 2)}) FILTER (WHERE {test}), 0)", NUMBER),
        ]
        made += [(f"count(DISTINCT {one}) FILTER (WHERE {test})", NUMBER) for one in scope.of(ID)[:1]]
        for item in items[:2]:
            made += [
                (f"sum(length({item}))", NUMBER),
                (f"sum(CASE WHEN {self.a.test(item, 0)} THEN 2 ELSE 1 END)", NUMBER),
                (f"max(length({item}))", NUMBER),
            ]
            made += [
                (f"count({item})", NUMBER),
                (f"count(DISTINCT {item})", NUMBER),
                (f"count(DISTINCT {item}) FILTER (WHERE {test})", NUMBER),
                (f"min({item})", TOWN),
                (f"max({item})", TOWN),
            ]
        for number in numbers[:2]:
            made += [
                (f"sum({number})", NUMBER),
                (f"max({number})", NUMBER),
                (f"min({number})", NUMBER),
                (f"count({number})", NUMBER),
                (f"sum({number}) FILTER (WHERE {test})", NUMBER),
            ]
        made += [(f"count({one})", NUMBER) for one in scope.of(ID)[1:2]]
        return self.rnd.choice(made)

    # Whole queries

    def number(self, scope: Scope, depth: int) -> str:
        """An aggregate of the rows of all persons."""
        if self.chance(0.35):
            return self.one("count(*)", f"count(DISTINCT {self.rnd.choice(scope.of(ID))})")
        if self.chance(0.25):
            test = self.condition(scope, depth)
            return self.one(
                f"count(DISTINCT {self.rnd.choice(scope.of(ID))}) FILTER (WHERE {test})",
                f"count(DISTINCT CASE WHEN {test} THEN {self.rnd.choice(scope.of(ID))} END)",
                f"count({self.rnd.choice(scope.of(ID))})",
            )
        return self.per_person(scope, depth)[0]

    def query(self) -> Asked:
        """A whole query."""
        depth = self.one_of(1, 2, 2, 3)
        before = ""
        for _ in range(self.one_of(0, 0, 0, 1, 2)):
            text, columns = self.persons(depth - 1)
            name = self.name("w")
            self.ctes.append((name, text, columns))
        if self.ctes:
            before = "WITH " + ", ".join(f"{name} AS ({text})" for name, text, _ in self.ctes)
        text, scope = self.joined(depth)
        numbers = [self.number(scope, depth - 1) for _ in range(self.one_of(1, 1, 2))]
        keys = self.keys(scope, depth - 1) if self.chance(0.45) else []
        named = [f"{number} AS {self.letter(number, len(keys))}{n}" for n, number in enumerate(numbers)]
        if not keys:
            return Asked(tuple(named), text, before)
        listed = [f"{key} AS k{n}" for n, key in enumerate(keys)]
        having = (
            f" HAVING {self.number(scope, 0)} {self.one('>', '>=', '<', '=')} {self.one_of(0, 1, 2, 3)}"
            if self.chance(0.2)
            else ""
        )
        return Asked((*listed, *named), f"{text} GROUP BY {', '.join(keys)}{having}", before, filtered=bool(having))

    @staticmethod
    def letter(number: str, grouped: int) -> str:
        """The first letter of a name, which says what a column is."""
        return "b" if number.startswith("bool_") else "c" if number.startswith("count(") and grouped else "n"

    def keys(self, scope: Scope, depth: int) -> list[str]:
        columns = scope.of(ITEM, NUMBER, AGE, TOWN, FLAG)
        found = []
        for _ in range(self.one_of(1, 1, 1, 2)):
            if columns and self.chance(0.7):
                found.append(self.rnd.choice(columns))
            elif scope.of(ITEM) and self.chance(0.5):
                item = self.rnd.choice(scope.of(ITEM))
                found.append(
                    self.one(f"length({item})", f"left({item}, 1)", f"CASE WHEN {self.a.test(item, 0)} THEN 1 ELSE 0 END")
                )
            else:
                found.append(f"CASE WHEN {self.condition(scope, depth)} THEN 'x' ELSE 'y' END")
        return list(dict.fromkeys(found))

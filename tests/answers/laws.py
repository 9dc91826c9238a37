"""Laws that answers obey whatever the data, on random items and conditions.

Three sorts of laws:

* sound: a violation is a contradiction: two bounds that cannot both hold, or an estimate outside its own bounds.
* tight: a violation is a bound that other answers from the same release improve.
* estimate: a violation is a set of estimates that no table has.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd
from answers.judging import Number

import anondb

SOUND, TIGHT, ESTIMATED = "sound", "tight", "estimate"
CLOSE = 1e-6  # relative, of numbers that obey a law
MEANS = 0.05  # a mean of ratios may differ from the ratio of means by this share


def literal(item: str) -> str:
    return "'" + item.replace("'", "''") + "'"


def listed(items: Iterable[str]) -> str:
    return ", ".join(map(literal, items))


def any_of(items: Iterable[str]) -> str:
    return f"bool_or(item IN ({listed(items)}))"


def every(items: Iterable[str]) -> str:
    return " AND ".join(f"bool_or(item = {literal(item)})" for item in items)


def at_least(n: int, items: Iterable[str]) -> str:
    return f"count(*) FILTER (WHERE item IN ({listed(items)})) >= {n}"


class Checks:
    """Counts the checks of each law, and keeps what violates it."""

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        self.violations: dict[str, list[str]] = {}

    def _record(self, sort: str, law: str, holds: bool, what: str) -> None:
        name = f"{sort}: {law}"
        self.made[name] += 1
        if not holds:
            self.violations.setdefault(name, []).append(what)

    def least(self, sort: str, law: str, small: float | None, large: float | None, what: object) -> None:
        """``small`` is at most ``large``."""
        if small is not None and large is not None:
            holds = small <= large or math.isclose(small, large, rel_tol=CLOSE, abs_tol=CLOSE)
            self._record(sort, law, holds, f"{small} > {large}: {what}")

    def alike(self, sort: str, law: str, one: float | None, other: float | None, what: object) -> None:
        """Two numbers are equal."""
        if one is not None and other is not None:
            holds = math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
            self._record(sort, law, holds, f"{one} <> {other}: {what}")

    def part(self, law: str, a: Number, b: Number, what: object) -> None:
        """What ``a`` counts is a part of what ``b`` counts."""
        self.least(TIGHT, f"{law} (lower)", a.lower, b.lower, what)
        self.least(TIGHT, f"{law} (upper)", a.upper, b.upper, what)
        self.least(SOUND, law, a.lower, b.upper, what)
        self.least(ESTIMATED, law, a.estimate, b.estimate, what)

    def equal(self, law: str, a: Number, b: Number, what: object) -> None:
        """Both are one number."""
        self.alike(TIGHT, f"{law} (lower)", a.lower, b.lower, what)
        self.alike(TIGHT, f"{law} (upper)", a.upper, b.upper, what)
        self.least(SOUND, law, max(a.lower, b.lower), min(a.upper, b.upper), what)
        self.alike(ESTIMATED, law, a.estimate, b.estimate, what)

    def sum(self, law: str, whole: Number, parts: Sequence[Number], what: object) -> None:
        """The parts add up to the whole."""
        low, high = sum(p.lower for p in parts), sum(p.upper for p in parts)
        self.least(TIGHT, f"{law} (lower)", low, whole.lower, what)
        self.least(TIGHT, f"{law} (upper)", whole.upper, high, what)
        self.least(SOUND, law, max(low, whole.lower), min(high, whole.upper), what)
        estimates = [p.estimate for p in parts if p.estimate is not None]
        if len(estimates) == len(parts):
            self.alike(ESTIMATED, law, whole.estimate, sum(estimates), what)

    def between(self, law: str, low: float, number: Number, high: float, what: object) -> None:
        """A number lies in a range that is known without the data."""
        self.least(TIGHT, f"{law} (lower)", low, number.lower, what)
        self.least(TIGHT, f"{law} (upper)", number.upper, high, what)
        self.least(ESTIMATED, f"{law} (lower)", low, number.estimate, what)
        self.least(ESTIMATED, f"{law} (upper)", number.estimate, high, what)


class Laws:
    """Checks laws in a session on a release of the shop.

    Args:
        session: the session.
        items: all items, those that most persons hold first.
        checks: where what is found goes.
    """

    def __init__(self, session: anondb.Session, items: Sequence[str], checks: Checks) -> None:
        self.session, self.items, self.checks = session, items, checks
        self.with_records = "customers" in session.tables
        self.answers: dict[str, Number] = {}
        self.all = self.number("SELECT count(DISTINCT tid) AS n FROM sales")

    def round(self, seed: int) -> None:
        """Check all laws on the items and conditions of a seed."""
        self.rnd = random.Random(seed)
        chosen = self.draw(self.rnd.randint(1, 12))
        other = self.rnd.choice([item for item in self.items if item not in chosen])
        one, two = (self.condition(self.draw(self.rnd.randint(1, 6))) for _ in range(2))
        self.growing_sets(chosen, other)
        self.two_conditions(one, two)
        self.rows_and_persons(chosen)
        self.item_by_item(chosen, other)
        self.own_category(chosen, seed)
        self.sizes(self.rnd.randint(1, 8), one)
        if self.with_records:
            self.records(one)

    # What is asked

    def number(self, sql: str) -> Number:
        """The answer to a query of one number."""
        if sql not in self.answers:
            row = self.session.sql(sql).fetchall()[0]
            ends = (
                end if value is None else float(value) for value, end in zip(row[1:], (-math.inf, math.inf), strict=True)
            )
            self.answers[sql] = found = Number(None if row[0] is None else float(row[0]), *ends)
            if found.estimate is not None:
                self.checks.least(SOUND, "an estimate is at least its lower bound", found.lower, found.estimate, sql)
                self.checks.least(SOUND, "an estimate is at most its upper bound", found.estimate, found.upper, sql)
        return self.answers[sql]

    def persons(self, condition: str) -> Number:
        """How many persons meet a condition on their rows."""
        return self.number(f"SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING {condition})")

    def holders(self, item: str) -> Number:
        return self.number(f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item = {literal(item)}")

    def rows(self, items: Iterable[str]) -> Number:
        return self.number(f"SELECT count(*) AS n FROM sales WHERE item IN ({listed(items)})")

    def customers(self, condition: str) -> Number:
        return self.number(f"SELECT count(*) AS n FROM customers WHERE {condition}")

    def by_item(self, sql: str) -> dict[str, Number]:
        """The answers to a query with a number for each item."""
        return {row[0]: Number(*map(float, row[1:4])) for row in self.session.sql(sql).fetchall()}

    def draw(self, size: int) -> list[str]:
        """Different random items, often of those that many hold."""
        frequent = self.items[: len(self.items) // 2]
        return self.rnd.sample(frequent if self.rnd.random() < 0.7 else self.items, min(size, len(frequent)))

    def condition(self, items: list[str]) -> str:
        """A random condition that names these items."""
        kind = self.rnd.random()
        if len(items) == 1 or kind < 0.3:
            return any_of(items)
        if kind < 0.5:
            return at_least(self.rnd.randint(1, min(3, len(items))), items)
        cut = self.rnd.randint(1, len(items) - 1)
        word = self.rnd.choice(["AND", "OR", "OR", "AND NOT"])
        return f"({self.condition(items[:cut])} {word} ({self.condition(items[cut:])}))"

    # The laws

    def growing_sets(self, chosen: list[str], other: str) -> None:
        """Any of more items is more, all of more items is fewer."""
        check, what = self.checks, (chosen, other)
        some, more = self.persons(any_of(chosen)), self.persons(any_of([*chosen, other]))
        check.part("any of a longer list is more", some, more, what)
        check.part("an item is a part of any", self.holders(other), more, what)
        total = sum(self.holders(item).upper for item in [*chosen, other])
        check.least(TIGHT, "any is at most the sum of its items", more.upper, total, what)
        check.least(SOUND, "any is at most the sum of its items", more.lower, total, what)
        check.least(TIGHT, "any is at most all persons", more.upper, self.all.upper, what)
        few = chosen[:4]
        both = self.persons(every(few))
        check.part("all of a longer list is fewer", self.persons(every([*few, other])), both, what)
        check.part("all is a part of one", both, self.holders(few[0]), few)
        least = sum(self.holders(item).lower for item in few) - (len(few) - 1) * self.all.upper
        check.least(TIGHT, "all is at least what the items leave", least, both.lower, few)
        counts = [self.persons(at_least(n, chosen)) for n in range(1, min(3, len(chosen)) + 1)]
        for fewer, most in zip(counts[1:], counts, strict=False):
            check.part("at least one more is fewer", fewer, most, chosen)
        check.equal("at least one is any", counts[0], some, chosen)

    def two_conditions(self, one: str, two: str) -> None:
        """AND, OR and NOT of two conditions."""
        check, what = self.checks, (one, two)
        a, b, both, either = map(self.persons, (one, two, f"{one} AND {two}", f"{one} OR {two}"))
        check.part("A is a part of A or B", a, either, what)
        check.part("A and B is a part of A", both, a, what)
        check.part("A and B is a part of B", both, b, what)
        check.sum("A = A and B + A and not B", a, [both, self.persons(f"{one} AND NOT ({two})")], what)
        check.sum("all = A + not A", self.all, [a, self.persons(f"NOT ({one})")], one)
        check.least(TIGHT, "the upper bound of A or B is at most the sum", either.upper, a.upper + b.upper, what)
        law = "inclusion and exclusion"
        high, low = a.upper + b.upper - both.lower, a.lower + b.lower - both.upper
        check.least(TIGHT, f"{law}, upper bound of or", either.upper, high, what)
        check.least(TIGHT, f"{law}, lower bound of or", low, either.lower, what)
        check.least(TIGHT, f"{law}, upper bound of and", both.upper, a.upper + b.upper - either.lower, what)
        check.least(TIGHT, f"{law}, lower bound of and", a.lower + b.lower - either.upper, both.lower, what)
        check.least(SOUND, law, max(either.lower, low), min(either.upper, high), what)
        if None not in (a.estimate, b.estimate, both.estimate, either.estimate):
            check.alike(ESTIMATED, law, a.estimate + b.estimate, both.estimate + either.estimate, what)  # type: ignore[operator]

    def rows_and_persons(self, chosen: list[str]) -> None:
        """Numbers of rows, of persons, and their ratio."""
        check, text = self.checks, listed(chosen)
        rows, persons = self.rows(chosen), self.persons(any_of(chosen))
        check.sum("rows of a list = the sum of its items", rows, [self.holders(item) for item in chosen], chosen)
        check.part("persons are at most rows", persons, rows, chosen)
        for key in ("tid", "item"):
            inner = f"SELECT {key}, count(*) AS c FROM sales WHERE item IN ({text}) GROUP BY {key}"
            by = self.number(f"SELECT coalesce(sum(c), 0) AS n FROM ({inner})")
            check.equal(f"rows of a list = their sum by {key}", by, rows, chosen)
        mean = self.number(
            f"SELECT avg(c) AS m FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ({text}) GROUP BY tid)"
        )
        check.between("the mean of a list lies in 1..k", 1, mean, len(chosen), chosen)
        if persons.lower > 0:
            check.least(TIGHT, "mean = rows / persons (upper)", mean.upper, rows.upper / persons.lower, chosen)
            check.least(TIGHT, "mean = rows / persons (lower)", rows.lower / persons.upper, mean.lower, chosen)
        if mean.estimate is not None and rows.estimate is not None and persons.estimate:
            apart = abs(mean.estimate - rows.estimate / persons.estimate)
            check.least(ESTIMATED, "mean = rows / persons, nearly", apart, MEANS * abs(mean.estimate), chosen)
        flag = f"max(CASE WHEN item IN ({text}) THEN 1 ELSE 0 END)"
        share = self.number(f"SELECT avg(x) AS s FROM (SELECT tid, {flag} AS x FROM sales GROUP BY tid)")
        check.between("a share lies in 0..1", 0, share, 1, chosen)
        if self.all.width == 0 and persons.estimate is not None:
            n = self.all.upper
            part = Number(persons.estimate / n, persons.lower / n, persons.upper / n)
            check.equal("share = persons / all", share, part, chosen)

    def item_by_item(self, chosen: list[str], other: str) -> None:
        """What GROUP BY item says is what single questions say."""
        check = self.checks
        alone = self.by_item("SELECT item, count(*) AS n FROM sales GROUP BY item")
        beside = self.by_item(
            "SELECT b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) "
            f"WHERE a.item = {literal(other)} GROUP BY b.item"
        )
        for item in chosen[:5]:
            check.equal("GROUP BY item = the single question", alone[item], self.holders(item), item)
            if item in beside:
                pair = self.persons(every([other, item]))
                check.equal("GROUP BY item beside an item = the single question", beside[item], pair, (other, item))
                check.part("an item beside another is a part of it", beside[item], self.holders(item), (other, item))
                check.part("items beside another are a part of its", beside[item], self.holders(other), (other, item))

    def own_category(self, chosen: list[str], seed: int) -> None:
        """A category in a table of the analyst's is any of its items."""
        self.session.register(f"own{seed}", pd.DataFrame({"item": chosen, "c": "yes"}))
        source = f"FROM sales JOIN own{seed} USING (item) WHERE c = 'yes'"
        persons, rows = (
            self.number(f"SELECT count(DISTINCT tid) AS n {source}"),
            self.number(f"SELECT count(*) AS n {source}"),
        )
        self.checks.equal("persons of a category = any of its items", persons, self.persons(any_of(chosen)), chosen)
        self.checks.equal("rows of a category = rows of its items", rows, self.rows(chosen), chosen)

    def sizes(self, size: int, condition: str) -> None:
        """Numbers of large baskets."""
        check = self.checks
        sizes = "SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n"
        large, larger, same = (self.number(f"{sizes} {test}") for test in (f">= {size}", f">= {size + 1}", f"= {size}"))
        check.part("larger baskets are fewer", larger, large, size)
        check.sum("at least k = k + more than k", large, [same, larger], size)
        both = self.persons(f"count(*) >= {size} AND {condition}")
        check.part("large and A is a part of A", both, self.persons(condition), (size, condition))
        check.part("large and A is a part of large", both, large, (size, condition))

    def records(self, condition: str) -> None:
        """Attributes of persons, alone and with a condition on their items."""
        check, rnd = self.checks, self.rnd
        held = f"tid IN (SELECT tid FROM sales GROUP BY tid HAVING {condition})"
        women, men = (self.customers(f"sex = '{sex}' AND {held}") for sex in ("female", "male"))
        all_women = self.customers("sex = 'female'")
        check.sum("A = A of women + A of men", self.persons(condition), [women, men], condition)
        check.sum("all = women + men", self.all, [all_women, self.customers("sex = 'male'")], "sex")
        check.part("women with A are a part of the women", women, all_women, condition)
        check.part("women with A are a part of A", women, self.persons(condition), condition)
        low = rnd.randint(18, 80)
        high = low + rnd.randint(1, 30)
        inside = self.customers(f"age BETWEEN {low} AND {high}")
        wide = self.customers(f"age BETWEEN {low - rnd.randint(0, 9)} AND {high + rnd.randint(0, 9)}")
        check.part("a longer range of ages is more", inside, wide, (low, high))
        ranges = [self.customers(f"age < {low}"), inside, self.customers(f"age > {high}")]
        check.sum("all = three ranges of ages", self.all, ranges, (low, high))
        mean = self.number(f"SELECT avg(age) AS m FROM customers WHERE age BETWEEN {low} AND {high} AND {held}")
        check.between("a mean age lies in its range", low, mean, high, (low, high, condition))

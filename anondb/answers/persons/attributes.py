"""The values of expressions of one attribute, listed or on stretches of its range, each with the condition for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from sqlglot import exp

from anondb.answers.persons.domains import Domains, check_plain, collected, typed
from anondb.answers.persons.steps import Scale, starts, terms
from anondb.answers.persons.terms import Atom, Number, Of, Part
from anondb.answers.ranged.relation import typeof
from anondb.query.predicates import Condition, either
from anondb.query.refusals import unsupported
from anondb.query.values import TEXT, WHOLE, WIDE, OneOf, OnValue, Stretches, on_value

MAX_STRETCHES = 1_000  # of the range of an attribute
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # of the years 1 and 9999, from 1970
MAX_LISTED = 100_000  # whole numbers or days of a range for each of which an expression is computed


class Attributes(Domains):
    """Lists the values of attributes, each with the condition for it, and evaluates expressions on them."""

    def of_attribute(self, tree: exp.Expr, atom: Of) -> list[tuple[Any, Condition]]:
        """The values of an expression of one attribute, each with the condition for it."""
        attribute = self.attribute(atom)
        if attribute.kind == WHOLE and attribute.type in WIDE and tree.find(exp.IntDiv):
            raise unsupported(f"// of {attribute.name!r}, since the file does not tell whether it is a DECIMAL")
        extent = None if attribute.ends is None else self.releases.extent(atom.attribute)
        places = None if extent is None else self._starts(tree, atom, *extent)
        if places is not None:
            return self._of_stretches(tree, atom, places)
        listed = self.releases.values_of(atom.attribute)
        grouped = collected(zip(self.of_values(tree, atom, listed), listed, strict=True))
        return [(of, self.among(atom, members)) for of, members in grouped.items()]

    def _starts(self, tree: exp.Expr, atom: Of, low: Fraction, high: Fraction) -> list[int] | None:
        """Where the stretches of a range begin on which an expression has one value; None where values are listed."""
        attribute = self.attribute(atom)
        scale = Scale(attribute.ends or "")
        far = attribute.dated and not (FIRST_DAY <= low <= high < LAST_DAY)  # which Python does not have
        if far or (attribute.whole and high - low < MAX_STRETCHES):
            return None
        first, last = scale.number(low), scale.number(high)
        if attribute.whole and last - first < MAX_LISTED:
            values = self._of_texts([tree], atom, [str(scale.cell(n)) for n in range(first, last + 1)])
            places = [first, *(first + n for n in range(1, len(values)) if values[n] != values[n - 1])]
            return places if len(places) <= MAX_STRETCHES else None
        monotone = terms(tree, lambda node: self.atom(node) == atom)
        if monotone is None:
            return None

        def at(numbers: Sequence[int]) -> list[tuple[Any, ...]]:
            return self._of_texts(monotone, atom, [str(scale.cell(n)) for n in numbers])

        return starts(first, last, at, MAX_STRETCHES)

    def _of_texts(self, trees: Sequence[exp.Expr], atom: Of, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        """The values of expressions of an attribute, as texts, for each of its values, which are texts without commas."""
        listed = exp.func("string_split", exp.Literal.string(",".join(texts)), exp.Literal.string(","))
        numbers = exp.func("range", exp.convert(len(texts)))
        named = exp.select(exp.Explode(this=numbers).as_("n"), exp.Explode(this=listed).as_("text")).subquery("listed")
        value = exp.cast(exp.column("text", "listed"), self.attribute(atom).kind, dialect="duckdb")
        of = [exp.paren(self.replaced(tree, lambda a: value if a == atom else None)) for tree in trees]
        results = [exp.cast(tree, "VARCHAR") for tree in of]  # 0.0 and -0.0 are equal numbers
        rows = self.releases.rows(exp.select(*results, exp.column("n", "listed")).from_(named).order_by("n"))
        return [row[:-1] for row in rows]

    def _of_stretches(self, tree: exp.Expr, atom: Of, places: Sequence[int]) -> list[tuple[Any, Condition]]:
        """The values of an expression on stretches of a range that begin at these places, and for NULL."""
        attribute = self.attribute(atom)
        scale, on = Scale(attribute.ends or ""), partial(OnValue, attribute.name, dated=attribute.dated)
        *values, absent = self.of_values(tree, atom, [*map(scale.cell, places), None])
        first = [n for n, value in enumerate(values) if not n or value != values[n - 1]]
        ends = [None, *(scale.value(places[n]) for n in first[1:]), None]
        grouped = collected(zip((values[n] for n in first), pairwise(ends), strict=True))
        null = on(OneOf(frozenset()), null=True)
        listed: list[tuple[Any, Condition]] = [(v, on(Stretches(tuple(parts)), null=False)) for v, parts in grouped.items()]
        if len(listed) == 1:
            listed = [(values[0], null.opposite())]
        if not attribute.may_be_null:
            return listed
        alike = [(value, either(met, null)) for value, met in listed if value == absent]
        return [*(one for one in listed if one[0] != absent), *(alike or [(absent, null)])]

    def among(self, atom: Of, values: Sequence[Any]) -> Condition:
        """The condition that an attribute has one of some of its values."""
        attribute = self.attribute(atom)
        column = exp.column("value")
        literals = [
            literal_of(value, attribute.kind if attribute.ends else "VARCHAR", plain=True)
            for value in values
            if value is not None
        ]
        asked: list[exp.Expr] = [exp.Is(this=column, expression=exp.null())] if None in values else []
        asked += [exp.In(this=column, expressions=literals)] if literals else []
        conditions = [on_value(test, attribute, left=True) for test in asked]
        if None in conditions:
            raise unsupported(f"single values of {attribute.name!r}", "Use BETWEEN.")
        return either(*(condition.settled() for condition in conditions if condition is not None))

    def of_values(self, tree: exp.Expr, atom: Atom, values: Sequence[Any]) -> list[Any]:
        """The value of an expression for each value of an atom."""
        if not values:
            return []
        kind = self.releases.part_type if isinstance(atom, Part) else ""
        if isinstance(atom, Of):
            kind = self.attribute(atom).kind
        elif isinstance(atom, Number):
            doubles = any(isinstance(value, float) for value in values)  # keys, which match as texts
            kind = "DOUBLE" if doubles else atom.type
        cells = [exp.Tuple(expressions=[exp.convert(n), literal_of(v, kind)]) for n, v in enumerate(values)]
        names = [exp.to_identifier(name) for name in ("n", "value")]
        rows = exp.Values(expressions=cells, alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=names))
        value = self.replaced(tree, lambda a: exp.column("value", "listed") if a == atom else None)
        results = self.releases.rows(exp.select(value, typeof(value)).from_(rows).order_by("n"))
        check_plain([result for result, _ in results])
        self.kinds[tree] = next((str(k) for _, k in results if k != '"NULL"'), "VARCHAR")
        return [result for result, _ in results]


def literal_of(value: Any, kind: str, *, plain: bool = False) -> exp.Expr:
    """A value of the session's database or of an attribute as a literal of its type."""
    if value is None:
        return exp.cast(exp.null(), kind) if kind else exp.null()
    if kind in ("DATE", "TIMESTAMP"):
        return exp.cast(exp.Literal.string(str(value)), kind)
    literal = typed(value, kind)
    written = plain or not kind or (isinstance(value, str) and kind == TEXT)
    return literal if written else exp.cast(literal, kind, dialect="duckdb")

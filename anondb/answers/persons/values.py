"""The values of expressions over the rows of persons, each with the condition for it; how much flags, which are 0 or 1,
vary, from their averages; and which numbers an expression may be by its form."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from math import fsum, prod
from operator import add
from typing import Any

from sqlglot import exp

from anondb.answers.persons.domains import check_fixed, check_plain, collected, typed
from anondb.answers.persons.quantities import has_value
from anondb.answers.persons.relations import Relations
from anondb.answers.persons.terms import EXACT, Item, Looked, Number, Of, OnPart, Part, Truth
from anondb.answers.quotients import Quotient, product_of
from anondb.answers.ranged.relation import typeof
from anondb.query.aggregates import SPREADS
from anondb.query.item_tests import Labels, finite
from anondb.query.parsing import bare
from anondb.query.predicates import ALWAYS, NEVER, Condition, Weights, both, either, negate, on_item
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.summed import SUM

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
MAX_TERMS = 120  # of a sum of counts
LARGE = 2**53 / EXACT  # up to which sums of multiples of its inverse are doubles


class Values(Relations):
    """Lists the values of expressions."""

    def values(self, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        """The values of an expression, each with the condition for it.

        Raises:
            InputError: ``unsupported_query``: they cannot be listed.
        """
        tree = bare(tree)
        if not self.atoms_of(tree):
            check_fixed(tree)
            ((value, kind),) = self.releases.rows(exp.select(tree.copy(), typeof(tree)))
            check_plain([value])
            self.kinds[tree] = str(kind)
            return [(value, ALWAYS)]
        if isinstance(tree, CONDITIONS) or isinstance(self.atom(tree), Truth):
            self.kinds[tree] = "BOOLEAN"
            truth = self.decided(tree)
            return [(v, met) for v in (True, False, None) if (met := has_value(truth, v)) != NEVER]
        atoms = self.atoms_of(tree)
        own = self.rows_of(tree)
        if len(own) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            return self._values_of_item(tree, next(iter(own)))
        if len(atoms) == 1 and isinstance(atoms[0], Of):
            return self.of_attribute(tree, atoms[0])
        if len(atoms) == 1 and isinstance(atoms[0], Part):
            return self._values_of_part(tree)
        if len(atoms) == 1 and isinstance(atoms[0], Number):
            return self._values_of_number(tree, atoms[0])
        by_case = self._values_by_case(tree, [a for a in atoms if isinstance(a, Truth)])
        if by_case is None:
            raise unsupported(f"GROUP BY an expression ({name_of(tree)})", "Group by each of its parts.")
        return by_case

    def _values_of_item(self, tree: exp.Expr, row: int) -> list[tuple[Any, Condition]]:
        evaluated = self.evaluated(tree)
        self.kinds[tree] = evaluated.kind
        if not evaluated.complete:
            by_case = self._values_by_case(tree, []) if isinstance(tree, exp.Case | exp.If) else None
            if by_case is not None:
                return by_case
            raise unsupported(f"GROUP BY an expression of items that may be suppressed ({name_of(tree)})")
        listed, others = frozenset(self.releases.items), self.releases.suppressed
        tests = collected((value, label) for label, value in evaluated.values.items() if others or label in listed)
        if others:
            tests.setdefault(evaluated.other, [])
        return [
            (
                value,
                on_item(
                    row,
                    self.test_of(
                        frozenset(labels), others and value == evaluated.other and type(value) is type(evaluated.other)
                    ),
                ),
            )
            for value, labels in tests.items()
        ]

    def _values_of_part(self, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        values = self.of_values(tree, Part(), self.releases.parts())
        places = collected((of, place) for place, of in enumerate(values))
        return [(of, OnPart(frozenset(where))) for of, where in places.items()]  # type: ignore[misc]

    def _values_of_number(self, tree: exp.Expr, atom: Number) -> list[tuple[Any, Condition]]:
        """The values of an expression of one number; that for great numbers is the one for all beyond."""
        plain = replace(atom, present=ALWAYS)
        if atom.values:
            listed = self.values_of_number(plain, tree)
            results = self.of_values(tree, atom, [value for value, _ in listed])
            grouped = collected((of, met) for (_, met), of in zip(listed, results, strict=True))
            return [(of, both(atom.present, either(*mets))) for of, mets in grouped.items()] + self._absent(tree, atom)
        if atom.weights.by_label is not None and atom.weights.kind == SUM:
            cases = as_cases(tree) or self._by_counts(tree, atom)
            by_case = None if cases is None else self._values_by_case(cases, [])
            if by_case is None:
                raise unsupported("GROUP BY a sum of numbers of items")
            self.kinds[tree] = self.kinds[cases]  # type: ignore[index]
            return by_case
        numbers = list(range(self.most(plain, tree) + 1))
        results = self.of_values(tree, atom, numbers)
        self._check_tail(plain, results)
        members = collected(zip(results, numbers, strict=True))
        if len(members) > MAX_TERMS:
            raise too_complex(f"it has over {MAX_TERMS} groups of numbers of items")
        values = [(of, both(atom.present, self._in_ranges(plain, ns, numbers[-1]))) for of, ns in members.items()]
        return values + self._absent(tree, atom)

    def _by_counts(self, tree: exp.Expr, atom: Number) -> exp.Expr | None:
        """An expression of a sum of few weights, with a multiple of the number of each item, 0 or 1, in place of it, or of
        the items of each weight if these are many; None for other sums."""
        weights, labels = atom.weights, dict[tuple[float, str], set[str]]()
        listed = {label: weight for label, weight in weights.by_label or () if weight}
        inside = self.passing(weights.test, frozenset(listed))
        inside = inside if self.releases.suppressed else inside.intersection(self.releases.items)
        for label in inside:
            labels.setdefault((listed[label], label if 2 ** len(inside) <= MAX_TERMS else ""), set()).add(label)
        exact = not weights.error and fsum(map(abs, listed.values())) < LARGE  # as keys are compared
        many = prod(len(of) + 1 for of in labels.values()) > MAX_TERMS
        if not exact or many or not labels or weights.others != (0.0, 0.0) or atom.present != ALWAYS:
            return None
        parts: list[exp.Expr] = []
        for (weight, _), of in sorted(labels.items()):
            each = typed(Decimal(weight) / weights.scale, "")
            each = exp.cast(each, atom.type) if atom.type else each
            parts.append(each * self.column(Number(Weights(Labels(frozenset(of))))))
        total = reduce(add, parts)
        return self.replaced(tree, lambda a: exp.paren(total) if a == atom else None)

    def _absent(self, tree: exp.Expr, atom: Number) -> list[tuple[Any, Condition]]:
        if atom.present == ALWAYS:
            return []
        value = self.value(self.replaced(tree, lambda a: exp.null() if a == atom else None))
        return [(value, negate(atom.present))]

    def _values_by_case(self, tree: exp.Expr, truths: Sequence[Truth]) -> list[tuple[Any, Condition]] | None:
        """The values of an expression for each truth of its conditions, for each branch of CASE, or for each value of a
        number."""
        parts: list[tuple[Condition, exp.Expr]] = []
        if truths and len(truths) <= 4:
            for met, part in self.by_truths(tree, truths):
                parts += [(both(met, more), branch) for more, branch in self.branches(part)]
        elif (cases := with_cases(tree)).find(exp.Case, exp.If):
            parts = self.branches(cases)
        parts = parts or self.by_number(tree, every=True) or []
        if not parts:
            return None
        grouped = collected((value, both(met, more)) for met, part in parts for value, more in self.values(part))
        self.kinds[tree] = self.common({self.kinds.get(part.unnest(), "VARCHAR") for _, part in parts})
        values = [(value, either(*mets)) for value, mets in grouped.items()]
        return [(value, met) for value, met in values if met != NEVER]


def as_cases(tree: exp.Expr) -> exp.Expr | None:
    """A condition that is cast, but no constant, as CASE with its three values; CASE as it is; None for others."""
    if not isinstance(tree, exp.Cast):
        return tree if isinstance(tree, exp.Case) else None
    met = tree.this.unnest()
    if not isinstance(met, CONDITIONS) or isinstance(met, exp.Boolean):
        return None
    ifs = [
        exp.If(this=condition.copy(), true=exp.cast(exp.convert(value), tree.to.copy()))
        for condition, value in ((met, True), (exp.Not(this=exp.paren(met.copy())), False))
    ]
    return exp.Case(ifs=ifs, default=exp.cast(exp.null(), tree.to.copy()))


def with_cases(tree: exp.Expr) -> exp.Expr:
    """An expression with CASE in place of conditions that are cast in it."""

    def visit(node: exp.Expr) -> exp.Expr:
        case = as_cases(node) if isinstance(node, exp.Cast) else None
        return node if case is None else exp.paren(case)

    return tree.transform(visit) if tree.find(exp.Cast) else tree


PAIRS = (exp.CovarPop, exp.CovarSamp, exp.Corr)
"""Aggregates of two numbers."""


def is_flag(tree: exp.Expr, what: object = None) -> bool:
    """Whether an expression has no other results than 0 and 1: CASE of these, or how often a person has one item."""
    if isinstance(what, Number) and what.present == ALWAYS and what.weights == Weights(what.weights.test):
        return len(finite(what.weights.test) or ()) == 1
    case = tree.unnest()
    results = [branch.args["true"] for branch in case.args["ifs"]] if isinstance(case, exp.Case) else []
    return bool(results) and all(part in (exp.convert(0), exp.convert(1)) for part in [*results, case.args.get("default")])


def spread_of_flags(call: exp.Expr, average: Callable[[exp.Expr], exp.Expr], rows: Callable[[], exp.Expr]) -> exp.Expr:
    """How much flags vary, alone or together.

    Args:
        call: an aggregate of one flag, or of a pair.
        average: the average of an expression over the rows.
        rows: the number of rows.
    """
    x, y = (exp.paren(part.unnest().copy()) for part in (call.this, call.args.get("expression") or call.this))

    def together(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        share = exp.paren(average(one.this))
        if one == other:
            return exp.paren(share * exp.paren(exp.convert(1) - share))
        return exp.paren(exp.paren(average(one * other)) - share * exp.paren(average(other.this)))

    kind, spread = SPREADS.get(type(call), call.key), together(x, y)
    if kind == "corr":
        return spread / exp.paren(exp.Sqrt(this=together(x, x)) * exp.Sqrt(this=together(y, y)))
    if kind.endswith("samp"):
        spread = exp.paren(spread * rows() / exp.Nullif(this=rows() - exp.convert(1), expression=exp.convert(0)))
    return exp.Sqrt(this=spread) if kind.startswith("stddev") else spread


def counted(of: Quotient, trees: Callable[[exp.Expr], Sequence[exp.Expr]], decides: Callable[[exp.Expr], bool]) -> Quotient:
    """A quotient by a sum of flags as one by the number of rows that have the flag; others stay as they are.

    Args:
        of: the quotient, which is not asked where there are no rows.
        trees: what an expression is in each kind of rows.
        decides: whether an expression is a condition that is NULL in no row.
    """
    value = bare(of.below.this) if isinstance(of.below, exp.Sum) and of.also is None else None
    met = _met(value, trees, decides) if value is not None and of.wanted is None and isinstance(of.above, exp.Sum) else None
    if value is None or met is None:
        return of
    every, factors = exp.Count(this=exp.Star()), [bare(part) for part in product_of(of.above.this)]
    rest = [part for part in factors if part != value]
    if len(rest) < len(factors):
        product = reduce(lambda one, other: exp.Mul(this=one, expression=other), [part.copy() for part in rest or [value]])
        return replace(of, above=exp.Sum(this=product), wanted=met, below=every, also=met, filled=True)
    both = _met(bare(of.above.this), trees, decides)
    of = of if both is None else replace(of, above=every, wanted=both)
    return replace(of, below=every.copy(), also=met)


def _met(
    value: exp.Expr, trees: Callable[[exp.Expr], Sequence[exp.Expr]], decides: Callable[[exp.Expr], bool]
) -> exp.Expr | None:
    """The condition that a flag is 1; None for other expressions."""
    if isinstance(value, exp.Cast) and decides(value.this):
        return exp.paren(value.this.copy())
    cases = [tree.unnest() for tree in trees(value)]
    if not all(map(is_flag, cases)):
        return None
    branches = cases[0].args["ifs"]
    alone = len(cases) == len(branches) == 1 and branches[0].args["true"] == exp.convert(1)
    return exp.paren(branches[0].this.copy() if alone else exp.EQ(this=value.copy(), expression=exp.convert(1)))


Atom = Callable[[exp.Expr], object]
Ends = tuple[float, float, bool]
"""The least and the greatest number, and whether it is whole."""


def ends_of(trees: Iterable[exp.Expr], atom: Atom) -> Ends:
    """The least and the greatest number that expressions may be where they are not NULL, infinite where their form does not
    tell, and whether they are whole.

    Args:
        trees: the expressions, over atoms.
        atom: the atom that a name stands for.
    """
    return _around([_ends_of(tree, atom) or (-math.inf, math.inf, False) for tree in trees])


def _around(numbers: Sequence[Ends]) -> Ends:
    """The ends of numbers each of which is one of some."""
    lows, highs, whole = zip(*numbers, strict=True)
    return min(lows), max(highs), all(whole)


def _ends_of(tree: exp.Expr, atom: Atom) -> Ends | None:
    tree = bare(tree)
    if isinstance(tree, exp.Literal) and not tree.is_string:
        return float(tree.name), float(tree.name), bool(tree.is_int)
    if isinstance(of := atom(tree), Number):
        counts, test = of.weights.kind == SUM and of.weights.by_label is None, of.weights.test
        return (0, len(test.labels) if isinstance(test, Labels) else math.inf, True) if counts else None
    if isinstance(tree, exp.Case) and tree.this is None:
        values = [branch.args["true"] for branch in tree.args["ifs"]] + [tree.args.get("default") or exp.null()]
        ends = [_ends_of(value, atom) for value in values if not isinstance(bare(value), exp.Null)]
        return _around([of for of in ends if of is not None]) if ends and None not in ends else None
    if not isinstance(tree, exp.Add | exp.Sub | exp.Mul):
        return None
    one, two = _ends_of(tree.left, atom), _ends_of(tree.right, atom)
    if one is None or two is None:
        return None
    combine = {exp.Add: operator.add, exp.Sub: operator.sub, exp.Mul: operator.mul}[type(tree)]
    results = [combine(a, b) for a in one[:2] for b in two[:2] if not math.isnan(combine(a, b))]
    return min(results), max(results), one[2] and two[2]

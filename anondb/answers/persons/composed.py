"""Aggregates over the rows of persons as expressions of those that are answered by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from anondb.answers.persons.aggregates import OF_ONE, Aggregates, Basic, items_of
from anondb.answers.persons.terms import Id, Item, Looked, Number, Of, Scope, Truth
from anondb.answers.persons.values import CONDITIONS, PAIRS, counted, ends_of, is_flag, spread_of_flags
from anondb.answers.quotients import Quotient, filtered, quotient_of, terms_of
from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.expressions import children_of, is_filled
from anondb.answers.ranged.values import COMPARISONS, of_value, when
from anondb.errors import InputError
from anondb.query.aggregates import QUANTILES, SPREADS, one_by_one, quantile_of
from anondb.query.parsing import bare, is_null
from anondb.query.predicates import ALWAYS, NEVER, negate
from anondb.query.refusals import name_of, only, unsupported
from anondb.query.summed import VALUES
from anondb.query.values import DAY

HINTS: Mapping[type[exp.Expr], str] = {
    exp.ApproxDistinct: "Use count(DISTINCT ...)",
    exp.Mode: "GROUP BY it, and take the first by ORDER BY count(*) DESC LIMIT 1",
    exp.GroupConcat: "Ask for the rows, and put them together",
    exp.ArrayAgg: "Ask for the rows, and put them together",
}
"""What to do in place of an aggregate."""
MOST_TERMS = 4  # of a sum of counts, whose parts are counted together
_KINDS: tuple[type[exp.Expr], ...] = (exp.Min, exp.Max, *QUANTILES, *SPREADS)


class Composer:
    """Composes the aggregates of a SELECT.

    Attributes:
        basics: those that are answered by themselves; number n is the column ``#n``.
    """

    def __init__(self, reader: Aggregates, scopes: Sequence[Scope], keys: Sequence[exp.Expr]) -> None:
        self._reader, self._scopes, self._keys = reader, scopes, list(keys)
        self.basics: list[Basic] = []

    def replaced(self, parts: Sequence[exp.Expr | None]) -> dict[exp.Expr, exp.Expr | str]:
        """What takes the place of each aggregate of some expressions, and of averages and sums that are composed of them."""
        expressions = {call: self.composed(call) for part in parts for call in aggregates(part)}
        for part in parts:
            expressions |= dict(self._arithmetic(part))
        return expressions

    def _basic(self, basic: Basic) -> exp.Expr:
        number = next((n for n, one in enumerate(self.basics) if one.key == basic.key), len(self.basics))
        if number == len(self.basics):
            self.basics.append(basic)
        return exp.column(f"#{number}", quoted=True)

    def _in_groups(self, basic: Basic) -> Basic:
        """A number that each group has: of all of its rows, of which there is one."""
        return replace(basic, present=bool(self._keys) and basic.wanted is None)

    def _rows(self, wanted: exp.Expr | None) -> exp.Expr:
        return self._basic(Basic("rows", wanted=wanted))

    def _unless_empty(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """A number that is NULL if there are no rows that FILTER chooses; without it the column says so."""
        return value if wanted is None else self._if_some(value, wanted)

    def _if_rows(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """A value that is NULL if there are no rows that FILTER chooses; each group has rows."""
        return value if self._keys and wanted is None else self._if_some(value, wanted)

    def _if_some(self, value: exp.Expr, wanted: exp.Expr | None, default: exp.Expr | None = None) -> exp.Expr:
        """A value where some rows are there that FILTER chooses, and else another one."""
        some = exp.GT(this=self._rows(wanted), expression=exp.Literal.number(0))
        return when(some, value, default)

    def composed(self, call: exp.Expr) -> exp.Expr | str:
        """An aggregate, with its FILTER, as an expression of others, or what to say of one that no rule reads.

        Raises:
            InputError: ``unsupported_query``.
        """
        if isinstance(call, exp.Filter):
            only(call, "this", "expression")
        call, wanted = filtered(call)
        if isinstance(call, (exp.Count, exp.Sum, exp.Avg, *_KINDS)) and call.this is not None:
            wanted, value = _chosen(call.this.unnest(), wanted)
            call = call if value is call.this.unnest() else of_value(call, value)
        if isinstance(call.this, exp.Distinct) and not isinstance(call, exp.Count):
            return f"{name_of(call)} DISTINCT. Ask for the values and their numbers of rows"
        if call.args.get("count") is not None:
            return f"several values of {name_of(call)}. Ask for the values and their numbers of rows"
        if isinstance(call, exp.Count):
            return self._count(call, wanted)
        if isinstance(call, exp.CountIf | exp.LogicalOr | exp.LogicalAnd | exp.Sum | exp.Avg):
            only(call, "this")
        if isinstance(call, exp.CountIf | exp.LogicalOr | exp.LogicalAnd):
            return self._if_rows(self._decided(call, wanted), self._where_present(call.this, wanted))
        if isinstance(call, exp.Sum):
            value = call.this.unnest()
            summed = self._sum_of_truths(value, wanted) or self._basic(self._in_groups(self._sum_of(value, wanted)))
            return self._unless_empty(summed, self._where_present(value, wanted))
        if isinstance(call, exp.Avg):
            return self._average(call.this.unnest(), wanted)
        if isinstance(call, OF_ONE) and call.this in self._keys and wanted is None:
            return self._keys[self._keys.index(call.this)]
        if quantiles := one_by_one(call):
            return exp.Array(expressions=[self._number(one, wanted) for one in quantiles])
        if isinstance(call, exp.Min | exp.Max) and (extreme := self._extreme_of_two(call, wanted)) is not None:
            return extreme
        if isinstance(call, (*SPREADS, *PAIRS)) and (spread := self._spread(call, wanted)) is not None:
            return spread
        if isinstance(call, _KINDS):
            return self._number(call, wanted)
        return ". ".join(filter(None, [name_of(call), HINTS.get(type(call))]))

    def _sum_of(self, value: exp.Expr, wanted: exp.Expr | None) -> Basic:
        least, _, whole = ends_of(self._trees(value), self._reader.atom)
        return Basic("sum", value, wanted, unsigned=least >= 0, whole=whole)

    def _decided(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """countif(x): the number of rows for which x is true; bool_or(x): there is one; bool_and(x): x is false for none."""
        if isinstance(call, exp.LogicalAnd):
            false = exp.Is(this=exp.paren(call.this.copy()), expression=exp.false())
            return exp.EQ(this=self._rows(_both(wanted, false)), expression=exp.Literal.number(0))
        number = self._rows(_both(wanted, call.this))
        return number if isinstance(call, exp.CountIf) else exp.GT(this=number, expression=exp.Literal.number(0))

    def _extreme_of_two(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """The greatest or the least of one number where a condition holds, and another elsewhere: the one that is beyond if
        some row has it; None for others."""
        value = call.this.unnest()
        branches = value.args["ifs"] if isinstance(value, exp.Case) and value.this is None else []
        numbers = [branch.args["true"] for branch in branches] + [value.args.get("default")]
        if len(branches) != 1 or not all(isinstance(n, exp.Literal) and not n.is_string for n in numbers):
            return None
        met, (one, two) = branches[0].this, numbers
        if (Fraction(one.name) < Fraction(two.name)) == isinstance(call, exp.Max):
            met, one, two = exp.Not(this=exp.Is(this=exp.paren(met.copy()), expression=exp.true())), two, one
        return self._if_rows(self._if_some(one.copy(), _both(wanted, met), two.copy()), wanted)

    def _count(self, call: exp.Count, wanted: exp.Expr | None) -> exp.Expr:
        only(call, "this", "big_int", "expressions")
        if call.expressions:
            raise unsupported("count of several columns")
        what = call.this
        if what is None or isinstance(what, exp.Literal | exp.Star):
            return self._rows(wanted)
        if not isinstance(what, exp.Distinct):
            return self._rows(self._where_present(what.unnest(), wanted))
        if len(what.expressions) != 1:
            raise unsupported("count(DISTINCT ...) of several columns")
        value = what.expressions[0].unnest()
        wanted, value = _chosen(value, wanted)
        if self._is_id(value):
            return self._basic(Basic("ids", wanted=self._where_present(value, wanted)))
        present = self._where_present(value, wanted) if len(self._scopes) > 1 else wanted
        return self._basic(Basic("distinct", value, present))

    def _counted(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """A count, or a sum of 1 and 0 in a group; None for other aggregates."""
        if isinstance(call, exp.Count):
            return self._count(call, wanted)
        return self._sum_of_truths(call.this.unnest(), None) if self._keys and wanted is None else None

    def _is_id(self, value: exp.Expr) -> bool:
        """Whether an expression is the id of a person, or NULL."""
        return all(
            isinstance(self._reader.atom(tree), Id) or isinstance(tree.unnest(), exp.Null) for tree in self._trees(value)
        )

    def _trees(self, value: exp.Expr) -> list[exp.Expr]:
        return [self._reader.resolved(value, scope) for scope in self._scopes]

    def _where_present(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """FILTER with the condition that a value is not NULL, unless it never is."""
        if all(self._is_present(value, scope) for scope in self._scopes):
            return wanted
        return _both(wanted, exp.Not(this=exp.paren(is_null(value))))

    def _decides(self, value: exp.Expr) -> bool:
        """Whether an expression is a condition that is NULL in no row."""
        truths = (isinstance(t.unnest(), CONDITIONS) or isinstance(self._reader.atom(t), Truth) for t in self._trees(value))
        return self._where_present(value.unnest(), None) is None and all(truths)

    def _is_present(self, value: exp.Expr, scope: Scope) -> bool:
        """Whether a value is NULL in no row, by its form, or as the values are that rows look up for their items."""
        tree = self._reader.resolved(value, scope)
        atoms = self._reader.atoms_of(tree)
        if isinstance(self._reader.atom(tree), Id) or not self._may_be_null(tree):
            return True
        looked = bool(atoms) and all(isinstance(atom, Item | Looked) for atom in atoms)
        return looked and self._reader.filtered(scope, [is_null(value)]).rows.where == NEVER

    def _may_be_null(self, tree: exp.Expr) -> bool:
        """Whether an expression may be NULL, as far as its form shows."""
        atom = self._reader.atom(tree)
        if isinstance(atom, Number):
            return atom.present != ALWAYS
        if isinstance(atom, Truth):
            return atom.false != negate(atom.true)
        if isinstance(atom, Of):
            return self._reader.attribute(atom).may_be_null
        if isinstance(atom, Item) or isinstance(tree, exp.Literal):
            return False
        strict = is_filled(tree) or isinstance(tree, exp.Connector | exp.Not | COMPARISONS)
        parts = [child for _, child in children_of(tree)] if strict else []
        if isinstance(tree, exp.Case) and tree.args.get("default") is not None:
            parts = [tree.args["default"], *(branch.args["true"] for branch in tree.args["ifs"])]
        return not parts or any(self._may_be_null(part.unnest()) for part in parts)

    def _sum_of_truths(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """The sum of 1 where a condition holds, and of 0 elsewhere, as a number of rows; None for other sums."""
        value = self._trees(value)[0].unnest() if len(self._scopes) == 1 else value
        plain = isinstance(value, exp.Case) and value.this is None and value.args.get("default") == exp.convert(0)
        branches = value.args["ifs"] if plain else []
        if len(branches) != 1 or branches[0].args["true"] != exp.convert(1):
            return None
        number = self._rows(_both(wanted, branches[0].this))
        return number if wanted is not None else self._if_rows(number, None)

    def _average(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """An average: of a number of each person, or a sum by a number of rows."""
        if len(self._scopes) == 1 and self._is_measure(self._trees(value)[0]):
            return self._measured("avg", value, wanted)
        present = self._where_present(value, wanted)
        return self._unless_empty(self._basic(self._in_groups(Basic("mean", value, present))), present)

    def _spread(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """How much flags vary, or a number and itself together; None for others."""
        values = [call.this, call.args.get("expression") or call.this]
        if all(is_flag(tree, self._reader.atom(tree)) for value in values for tree in self._trees(value.unnest())):
            return spread_of_flags(call, partial(self._average, wanted=wanted), partial(self._rows, wanted))
        if isinstance(call, exp.CovarPop | exp.CovarSamp) and values[0] == values[1]:
            alone = exp.VariancePop if isinstance(call, exp.CovarPop) else exp.Variance
            return self._number(alone(this=call.this), wanted)
        return None

    # ---------------------------------------------------------------- arithmetic of aggregates

    def _arithmetic(self, node: exp.Expr | None) -> Iterator[tuple[exp.Expr, exp.Expr]]:
        """The outermost quotients that are averages, and sums and differences of counts, with what takes their place."""
        if node is None or isinstance(node, exp.Query | exp.AggFunc | exp.Filter | exp.Window):
            return
        replacement = self._quotient(node) if isinstance(node, exp.Div) else None
        if replacement is None and isinstance(node, exp.Add | exp.Sub) and len(self._scopes) == 1:
            replacement = self._combined(node)
        if replacement is not None:
            yield node, replacement
            return
        for child in node.iter_expressions():
            yield from self._arithmetic(child)

    def _quotient(self, node: exp.Div) -> exp.Expr | None:
        """A sum by its number of rows as an average, and a number of rows by that of its persons; None for others."""
        of = quotient_of(node)
        if self._keys or of.never_zero:
            of = counted(of, self._trees, self._decides)
        terms = terms_of(of.above)
        others = [(factor, term) for factor, term in terms if filtered(term) != (of.below, of.also)]
        if len(others) == 1 < len(terms):  # (a + n * b) / b
            ((factor, term),) = others
            one = self._quotient(exp.Div(this=term.copy(), expression=node.expression.copy()))
            more = sum(times for times, _ in terms) - factor
            return None if one is None else of.times(exp.paren(exp.convert(factor) * one + exp.convert(more)))
        average = self._average_of(of) if isinstance(of.below, exp.Count) else None
        if average is None:
            return None
        if (of.filled or isinstance(of.above, exp.Count)) and not of.never_zero:  # 0 / 0 is no number, and not NULL
            nothing = exp.Div(this=exp.Literal.number(0), expression=self._rows(of.also))
            average = self._if_some(average, of.also, nothing)
        return of.times(exp.paren(average))

    def _average_of(self, of: Quotient) -> exp.Expr | None:
        """The average that a quotient of two aggregates is; None for other quotients."""
        above, counted, wanted = of.above, of.below.this or exp.Star(), of.wanted  # count() is count(*)
        every, of_ids = self._counts_every(counted, of.also), self._counts_ids(counted)
        present = self._where_present(bare(above.this), wanted) if every and isinstance(above, exp.Sum) else None
        implied = partial(self._reader.implied, scopes=self._scopes)
        if present is not None and implied(present, of.also) and implied(of.also, present):
            return self._average(bare(above.this), wanted)
        if isinstance(above, exp.Sum) and wanted == of.also and (every or bare(counted) == bare(above.this)):
            value = bare(above.this)
            if not every or (present := self._where_present(value, wanted)) is wanted:
                return self._average(value, wanted)
            filled = exp.func("coalesce", value.copy(), exp.convert(0))  # rows without a number are counted
            return self._unless_empty(self._average(filled, wanted), wanted if of.filled else present)
        of_each = isinstance(above, exp.Sum) and wanted == of.also and of_ids and len(self._scopes) == 1
        if of_each and self._where_present(value := bare(above.this), wanted) is wanted:
            return self._unless_empty(self._basic(Basic("of_each", value, wanted)), wanted)
        if not isinstance(above, exp.Count) or isinstance(above.this, exp.Distinct) or (self._items() and every):
            return None
        if above.this is not None and not isinstance(above.this, exp.Star | exp.Literal):
            wanted = self._where_present(above.this.unnest(), wanted)
        if wanted is not None and every and implied(wanted, of.also):
            return self._average(when(wanted, exp.convert(1), exp.convert(0)), of.also)
        if wanted == of.also and of_ids:
            return self._unless_empty(self._basic(Basic("of_each", wanted=wanted)), wanted)
        return None

    def _counts_ids(self, counted: exp.Expr) -> bool:
        """Whether what is counted are persons."""
        return isinstance(counted, exp.Distinct) and self._is_id(counted.expressions[0])

    def _counts_every(self, counted: exp.Expr, wanted: exp.Expr | None) -> bool:
        """Whether what is counted are all rows: some value of each, or its person, who has no other row."""
        if isinstance(counted, exp.Distinct):
            items = self._items()
            return self._counts_ids(counted) and all(s.rows.exact and s.rows.rows <= items for s in self._scopes)
        constant = isinstance(counted, exp.Star | exp.Literal)
        return constant or self._where_present(counted.unnest(), wanted) is wanted

    def _items(self) -> set[int]:
        """The variables of rows by whose items they are grouped."""
        return items_of(self._reader, self._scopes, self._keys)

    def _combined(self, node: exp.Expr) -> exp.Expr | None:
        """A sum of numbers of rows, or of persons, times whole numbers, as one; None for others."""
        terms = [(factor, *filtered(part)) for factor, part in terms_of(node)]
        if len(terms) > MOST_TERMS or not all(isinstance(call, exp.Count | exp.Sum) for _, call, _ in terms):
            return None
        columns = [self._counted(call, wanted) for _, call, wanted in terms]
        if None in columns:
            return None
        summands = tuple(
            (f, self.basics[int(c.name[1:])]) for (f, *_), c in zip(terms, columns, strict=True) if c is not None
        )
        if self._keys:
            return self._remainder(summands)
        kinds = {basic.how for _, basic in summands}
        return self._basic(Basic("combined", terms=summands)) if kinds in ({"rows"}, {"ids"}) else None

    def _remainder(self, terms: Sequence[tuple[int, Basic]]) -> exp.Expr | None:
        """All rows less those of conditions: the rows of none, less those that are taken away again; None for other sums."""
        every = [factor for factor, basic in terms if basic.wanted is None]
        taken = [basic.wanted for factor, basic in terms if factor == -1 and basic.wanted is not None]
        if every != [1] or len(taken) != len(terms) - 1 or any(basic.how != "rows" for _, basic in terms):
            return None
        others = [exp.Not(this=exp.paren(exp.Is(this=exp.paren(part.copy()), expression=exp.true()))) for part in taken]
        left = self._rows(exp.and_(*others))
        for n, part in enumerate(taken[1:], 1):
            left = left - self._rows(_both(exp.or_(*(exp.paren(p.copy()) for p in taken[:n])), part))
        return exp.paren(left) if len(taken) > 1 else left

    def _measured(self, how: str, value: exp.Expr, wanted: exp.Expr | None, share: Fraction | None = None) -> exp.Expr:
        """An aggregate of a number of each person who has one."""
        wanted = self._where_present(value, wanted)
        basic = Basic(how, value, wanted, share, some=True)
        null = how in SPREADS.values() or any(map(self._may_be_null, self._trees(value)))
        return self._unless_empty(self._basic(basic if null else self._in_groups(basic)), wanted)

    def _is_measure(self, tree: exp.Expr) -> bool:
        """Whether an expression is a number of the person that a release aggregates."""
        atom = self._reader.atom(tree)
        if isinstance(atom, Of):
            return not self._reader.attribute(atom).by_value
        if isinstance(atom, Number):
            return self._reader.releases.summable or atom.weights.kind != VALUES
        try:
            return self._reader.measure(tree)[0] is not None
        except InputError:
            return False

    def _number(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """An extreme, a quantile or a deviation."""
        if not isinstance(call, QUANTILES):
            only(call, "this")
        kind, share = quantile_of(call) if isinstance(call, QUANTILES) else (SPREADS.get(type(call), call.key), None)
        value = call.this.unnest()
        number = self._measured(kind, value, wanted, share)
        if isinstance(call, exp.Min | exp.Max):
            atoms = [self._reader.atom(tree) for tree in self._trees(value)]
            of = next((self._reader.attribute(a) for a in atoms if isinstance(a, Of)), None)
            if of is not None and of.ends == "DATE":
                first = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
                day = exp.Add(this=first, expression=exp.cast(exp.paren(number), "INTEGER"))
                return day if of.kind == "DATE" else exp.cast(exp.paren(day), of.kind)
            if of is not None and of.ends == "TIMESTAMP":
                moment = exp.Round(this=exp.paren(number) * exp.Literal.number(DAY))
                return exp.func("make_timestamp", exp.cast(moment, "BIGINT"), dialect="duckdb")
        return number


def _chosen(value: exp.Expr, wanted: exp.Expr | None) -> tuple[exp.Expr | None, exp.Expr]:
    """``CASE WHEN x THEN value END`` as the value where x is true."""
    plain = isinstance(value, exp.Case) and value.this is None and value.args.get("default") is None
    branches = value.args["ifs"] if plain else []
    if len(branches) != 1 or isinstance(branches[0].args["true"].unnest(), exp.Literal):
        return wanted, value
    return _both(wanted, branches[0].this), branches[0].args["true"].unnest()


def _both(one: exp.Expr | None, two: exp.Expr) -> exp.Expr:
    return exp.paren(two.copy()) if one is None else exp.and_(exp.paren(one.copy()), exp.paren(two.copy()))

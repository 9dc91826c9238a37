"""The types of expressions over the rows of persons, as far as a set operation needs them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from anondb.answers.persons.rows import Rows
from anondb.answers.persons.terms import Id, Item, Listing, Looked, Number, Of, PersonRows, Refused, Truth
from anondb.answers.ranged.literals import typeof
from anondb.answers.ranged.relation import INTEGERS
from anondb.query.parsing import cases_of
from anondb.query.refusals import unsupported

_NULL, _WHOLE, _NUMBER = "", "a whole number", "a number"
_COMPUTED = (exp.Add, exp.Sub, exp.Mul, exp.Neg)


class Kinds(Rows):
    """Reads the types of columns."""

    def check_alike(self, listed: Sequence[PersonRows]) -> None:
        """Refuse rows of a set operation for which DuckDB converts values of a column to another type."""
        for column in zip(*(rows.columns for rows in listed), strict=True):
            if len({c.value for c in column}) > 1 and len(set[str]().union(*(self._kinds(c.value) for c in column))) > 1:
                raise unsupported("a set operation of columns of different types", "CAST both to one type.")

    def _kinds(self, tree: exp.Expr) -> set[str]:
        """The types that an expression may have, none for NULL; the text of an expression of which they are not known."""
        tree = tree.unnest()
        atom, atoms = self.atom(tree), self.atoms_of(tree)
        if isinstance(atom, Truth) or isinstance(tree, exp.Predicate | exp.Connector | exp.Not):
            return {"BOOLEAN"}
        if isinstance(tree, exp.Case | exp.If):
            return {kind for _, value in cases_of(tree) for kind in self._kinds(value)}
        if atoms and isinstance(tree, _COMPUTED):
            return {kind for part in tree.iter_expressions() for kind in self._kinds(part)}
        if isinstance(atom, Number):
            return {_number_type(atom)}
        if isinstance(atom, Id | Listing):
            kind = type(atom).__name__
        elif isinstance(atom, Of):
            kind = self.attribute(atom).kind
        elif not atoms:
            ((kind,),) = self.releases.rows(exp.select(typeof(tree)))
        elif len(self.rows_of(tree)) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            kind = self.evaluated(tree).kind
        else:
            kind = _NULL if isinstance(atom, Refused) else tree.sql()
        return {_WHOLE if kind in INTEGERS else kind} - {_NULL, '"NULL"'}


def _number_type(atom: Number) -> str:
    """The type of a number of a person."""
    if atom.values:
        value = atom.values[0][1]
        return _NUMBER if isinstance(value, float | Decimal) else type(value).__name__
    return _NUMBER if atom.weights.by_label and atom.weights.kind == "sum" else _WHOLE

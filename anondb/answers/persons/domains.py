"""Evaluate expressions of one atom on all values that it may have: DuckDB computes them, on the session's database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import count
from math import isfinite
from typing import Any, TypeVar

from sqlglot import exp

from anondb.answers.persons.counts import Counts
from anondb.answers.persons.terms import WITH_ESTIMATE, Atom, Estimate, Item, Looked, Of, Refused, Truth
from anondb.answers.ranged.compiler import Compiler
from anondb.answers.ranged.relation import constant, typeof
from anondb.query.item_tests import (
    ANY_ITEM,
    ItemTest,
    Labels,
    Unnamed,
    choices,
    finite,
    item_any,
    item_not,
    listed,
    passing,
    patterns,
)
from anondb.query.parsing import bare
from anondb.query.predicates import rows_of
from anondb.query.refusals import unsupported
from anondb.query.values import Attribute

T = TypeVar("T")
UNKNOWN = object()
"""The value of an expression for items that nothing names."""
OTHER = "\x1f another item"
_GROUPED = (
    *("BOOLEAN", "DECIMAL", "DOUBLE", "FLOAT", "DATE", "TIME", "VARCHAR", "INTEGER", "BIGINT", "SMALLINT", "TINYINT"),
    *("UINTEGER", "USMALLINT", "UTINYINT"),
)
"""What the names of types begin with by whose values rows can be grouped."""
_EQUAL = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Is)


@dataclass(frozen=True)
class Evaluated:
    """The values of an expression of the item of a row.

    Attributes:
        values: for each item that is listed or named.
        other: for items that nothing names; ``UNKNOWN`` if it depends on them.
        kind: the SQL type.
        complete: whether these are the values of all items that persons may have.
    """

    values: Mapping[str, Any]
    other: Any
    kind: str
    complete: bool


class Domains:
    """Keeps the atoms of the expressions of one SELECT, and evaluates these.

    Args:
        releases: the releases.
        compiler: reads the analyst's tables.

    Attributes:
        atoms: by the names of their columns.
        lookups: the tables in which values are looked up for items.
        kinds: the SQL types of expressions of one atom that were evaluated.
    """

    def __init__(self, releases: Counts, compiler: Compiler) -> None:
        self.releases, self.compiler = releases, compiler
        self.atoms: dict[str, Atom] = {}
        self._names: dict[Atom, str] = {}
        self.lookups: dict[str, exp.Query] = {}
        self._evaluated: dict[exp.Expr, Evaluated] = {}
        self._constants: dict[exp.Expr, exp.Expr] = {}
        self.kinds: dict[exp.Expr, str] = {}
        self._fresh = count(1)
        self._same: dict[int, int] = {}

    # ---------------------------------------------------------------- atoms

    def column(self, atom: Atom) -> exp.Column:
        """An atom as a column of a syntax tree."""
        name = self._names.get(atom)
        if name is None:
            name = self._names[atom] = f"#{len(self._names)}"
            self.atoms[name] = atom
        return exp.column(name, quoted=True)

    def atom(self, node: exp.Expr) -> Atom | None:
        """The atom that an expression is; None for others."""
        node = bare(node)
        return self.atoms.get(node.name) if isinstance(node, exp.Column) and not node.table else None

    def atoms_of(self, tree: exp.Expr) -> list[Atom]:
        """The atoms of an expression, each once.

        Raises:
            InputError: ``unsupported_query``: one of them has no rule.
        """
        atoms: dict[Atom, None] = {}
        for column in tree.find_all(exp.Column):
            atom = self.atoms.get(column.name) if not column.table else None
            if atom is None:
                continue
            if isinstance(atom, Refused):
                raise unsupported(atom.construct, atom.hint)
            if isinstance(atom, Estimate):
                raise unsupported(*WITH_ESTIMATE)
            atoms[atom] = None
        return list(atoms)

    def replaced(self, tree: exp.Expr, value_of: Callable[[Atom], exp.Expr | None]) -> exp.Expr:
        """An expression with other expressions in place of some atoms."""

        def visit(node: exp.Expr) -> exp.Expr:
            atom = self.atoms.get(node.name) if isinstance(node, exp.Column) and not node.table else None
            value = None if atom is None else value_of(atom)
            return node if value is None else wrapped(value)

        return tree.copy().transform(visit)

    def rows_of(self, tree: exp.Expr) -> frozenset[int]:
        """The item variables that an expression depends on."""
        return frozenset(row for atom in self.atoms_of(tree) for row in rows_of_atom(atom))

    def attribute(self, atom: Of) -> Attribute:
        """The attribute of which an atom is the person's value."""
        return next(a for a in self.releases.attributes if a.name == atom.attribute)

    # ---------------------------------------------------------------- persons

    def person(self, number: int) -> int:
        """The person that equal ids show a person to be."""
        while number in self._same:
            number = self._same[number]
        return number

    def unite(self, one: int, other: int) -> None:
        """Make two persons one."""
        left, right = self.person(one), self.person(other)
        if left != right:
            self._same[left] = right

    # ---------------------------------------------------------------- constants

    def constant(self, tree: exp.Expr) -> exp.Expr:
        """An expression without atoms as a literal."""
        tree = bare(tree)
        if isinstance(tree, exp.Literal | exp.Null | exp.Boolean):
            return tree
        literal = self._constants.get(tree)
        if literal is None:
            check_fixed(tree)
            literal = self._constants[tree] = typed(*self.releases.rows(exp.select(tree.copy(), typeof(tree)))[0])
        return literal

    def value(self, tree: exp.Expr) -> Any:
        """The value of an expression without atoms."""
        tree = bare(tree)
        if isinstance(tree, exp.Null):
            return None
        if isinstance(tree, exp.Boolean):
            return bool(tree.this)
        check_fixed(tree)
        return self.releases.rows(exp.select(tree.copy()))[0][0]

    def common(self, kinds: Collection[str]) -> str:
        """The type of a column with values of these types."""
        different = sorted(set(kinds) - {'"NULL"'})
        if len(different) < 2:
            return next(iter(different), "VARCHAR")
        nulls = [exp.cast(exp.null(), kind, dialect="duckdb") for kind in different]
        return str(self.releases.rows(exp.select(typeof(exp.Coalesce(this=nulls[0], expressions=nulls[1:]))))[0][0])

    # ---------------------------------------------------------------- items

    def evaluated(self, tree: exp.Expr) -> Evaluated:
        """The values of an expression of the item of one row, and of what is looked up for it.

        Raises:
            InputError: ``ambiguous_item``: they depend on the type of the items.
        """
        tree = bare(tree)
        evaluated = self._evaluated.get(tree)
        if evaluated is None:
            evaluated = self._evaluated[tree] = self._evaluate(tree)
        return evaluated

    def _evaluate(self, tree: exp.Expr) -> Evaluated:
        check_fixed(tree)
        value = self.replaced(tree, self.in_domain)
        domain = self.releases.domain()
        if self.releases.suppressed:
            other = exp.select(exp.convert(OTHER).as_("item"), exp.false().as_("listed"))
            domain = exp.union(domain, other, distinct=False)
        asked = exp.select(exp.column("item", "d"), value, typeof(value)).from_(domain.subquery("d"))
        asked = self.with_lookups(asked, self.atoms_of(tree))
        values: dict[str, Any] = {}
        kinds = set()
        unnamed: Any = UNKNOWN
        listed = frozenset(self.releases.items)
        knows_others = self._knows_others(tree) and not self.releases.typed
        for item, one, kind in self.releases.rows(asked):
            if item == OTHER:
                unnamed = one if knows_others or not self._items_of(tree) else UNKNOWN
                if unnamed is UNKNOWN:
                    continue
            elif one is None and self.releases.typed and item not in listed:
                continue
            else:
                values[item] = one
            kinds.add(str(kind))
        kinds -= {'"NULL"'}
        if any(kind.endswith("_NS") for kind in kinds):  # Python has no nanoseconds
            raise unsupported(f"a value of the type {kinds.pop()}", "Cast it to VARCHAR or TIMESTAMP.")
        check_plain([*values.values(), *([] if unnamed is UNKNOWN else [unnamed])])
        complete = unnamed is not UNKNOWN or not self.releases.suppressed
        return Evaluated(values, unnamed, kinds.pop() if len(kinds) == 1 else "VARCHAR", complete)

    def item(self, source: str) -> exp.Expr:
        """The item of a row of the domain, as a value of its type; NULL for items that nothing names."""
        column, kind = exp.column("item", source), self.releases.type
        if kind == "VARCHAR":
            return column
        return exp.TryCast(this=column, to=exp.DataType.build(kind, dialect="duckdb"))

    def in_domain(self, atom: Atom) -> exp.Expr | None:
        """The item of a row, or what is looked up for it, as a column of the domain ``d`` with lookups; None for others."""
        if isinstance(atom, Item):
            return self.item("d")
        return exp.column(atom.column, atom.table) if isinstance(atom, Looked) else None

    def with_lookups(self, tree: exp.Select, atoms: Iterable[Atom]) -> exp.Select:
        """A query of the domain ``d``, joined with the tables in which these atoms are looked up."""
        for table in dict.fromkeys(a.table for a in atoms if isinstance(a, Looked)):
            same = exp.EQ(this=exp.column("item", table), expression=exp.column("item", "d"))
            tree = tree.join(self.lookups[table].subquery(table), on=same, join_type="left")
        return tree

    def _items_of(self, tree: exp.Expr) -> Iterator[exp.Column]:
        return [c for c in tree.find_all(exp.Column) if isinstance(self.atom(c), Item)]  # type: ignore[return-value]

    def _knows_others(self, tree: exp.Expr) -> bool:
        """Whether an expression does nothing with items but compare them with named ones for equality."""
        for column in self._items_of(tree):
            place = column.parent
            while isinstance(place, exp.Paren):
                place = place.parent
            if not isinstance(place, _EQUAL) or place.args.get("query") is not None:
                return False
            others = [part for part in place.iter_expressions() if not any(c is column for c in part.find_all(exp.Column))]
            if any(self.atoms_of(part) or not isinstance(part.unnest(), exp.Literal | exp.Null) for part in others):
                return False
        return True

    def test(self, tree: exp.Expr, wanted: Callable[[Any], bool]) -> ItemTest:
        """The items for which the value of an expression is wanted."""
        evaluated = self.evaluated(tree)
        passing = frozenset(item for item, value in evaluated.values.items() if wanted(value))
        other = None if evaluated.other is UNKNOWN else wanted(evaluated.other)
        return self.test_of(passing, other, f"{tree.sql('duckdb')} {sorted(passing)[:3]} {len(passing)}")

    def test_of(self, passing: frozenset[str], other: bool | None, key: str = "") -> ItemTest:
        """The test that these items pass, and items that nothing names do, do not, or do perhaps (None)."""
        if not self.releases.suppressed:
            listed = frozenset(self.releases.items)
            passing &= listed
            failing = listed - passing
            if not failing:
                return ANY_ITEM
            return item_not(Labels(failing)) if len(failing) < len(passing) else Labels(passing)
        if other is False:
            return Labels(passing)
        if other:
            return item_not(Labels(self.releases.named() - passing))
        return item_any(Labels(passing), Unnamed(key))

    def is_one(self, test: ItemTest) -> bool:
        """Whether exactly one item passes a test, and it is named."""
        labels = self.labels(test)
        return labels is not None and len(labels) == 1

    def labels(self, test: ItemTest) -> frozenset[str] | None:
        """The items that pass a test, if no item that nothing names can."""
        if not (self.releases.suppressed or choices(test) or patterns(test) or finite(test) is not None):
            return passing(test, frozenset(self.releases.items))
        return listed(test)


def rows_of_atom(atom: Atom) -> frozenset[int]:
    """The item variables that an atom depends on."""
    if isinstance(atom, Item | Looked):
        return frozenset({atom.row})
    if isinstance(atom, Truth):
        return rows_of(atom.true) | rows_of(atom.false)
    return frozenset()


def collected(pairs: Iterable[tuple[Any, T]]) -> dict[Any, list[T]]:
    """The second parts of pairs by their first part."""
    lists: dict[Any, list[T]] = {}
    for key, value in pairs:
        lists.setdefault(key, []).append(value)
    return lists


def wrapped(value: exp.Expr) -> exp.Expr:
    """An expression in the place of a column."""
    plain = isinstance(value, exp.Column | exp.Literal | exp.Null | exp.Boolean | exp.Paren)
    return value.copy() if plain else exp.paren(value.copy())


def check_plain(values: Sequence[Any]) -> None:
    """Refuse values that are no numbers, texts or the like: lists, NaN, and dates without an end."""
    for value in values:
        if isinstance(value, list | dict | bytes) or (isinstance(value, float) and value != value):
            raise unsupported("a list, NaN or another value that cannot be grouped by")
        if isinstance(value, date) and value.year in (1, 9999):  # so Python has infinite ones
            raise unsupported("infinite dates", "Leave them out.")


def check_kind(kind: str) -> None:
    """Refuse groups by values of a type that Python does not have."""
    supported = kind.startswith(_GROUPED) or kind in ('"NULL"', "UUID")
    if not supported or kind.endswith(("]", "_NS")):
        raise unsupported(f"GROUP BY a value of the type {kind.partition('(')[0]}", "Cast it to BIGINT or VARCHAR.")


def check_fixed(tree: exp.Expr) -> None:
    """Refuse aggregates, which are no values of a person, and what has several values."""
    if tree.find(exp.AggFunc, exp.Window) and not tree.find(exp.Query):
        raise unsupported("an aggregate in this place")
    if tree.find(exp.Explode, exp.Unnest):
        raise unsupported("UNNEST in this place", "Join the rows of a table.")


def cell(value: Any, kind: str) -> exp.Expr:
    """A value of DuckDB as a constant of its type, with which DuckDB computes as it does with a column of this type."""
    literal = typed(value, kind)
    plain = isinstance(literal, exp.Null | exp.Boolean | exp.Cast) or isinstance(value, str) or kind == "INTEGER"
    return literal if plain else exp.cast(literal, kind, dialect="duckdb")


def typed(value: Any, kind: str) -> exp.Expr:
    """A value of DuckDB as a literal, of its type where literals have it."""
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.convert(value)
    if isinstance(value, float) and not isfinite(value):
        return exp.cast(exp.Literal.string(str(value)), "DOUBLE")
    if isinstance(value, int | float | Decimal):
        number = format(Decimal(repr(value)) if isinstance(value, float) else Decimal(value), "f")
        plain = exp.Literal.number(number.lstrip("-"))
        return exp.paren(exp.Neg(this=plain)) if number.startswith("-") else plain
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.cast(exp.Literal.string(str(value)), kind) if kind in ("DATE", "TIMESTAMP") else constant(value)

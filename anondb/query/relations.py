"""The intermediate values while a query is read: terms, relations, the scope of a SELECT; and helpers on trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.predicates import (
    ANY_ITEM,
    Condition,
    ItemTest,
    Weights,
)
from anondb.query.refusals import only, unsupported
from anondb.query.values import Attribute

# --- terms: the kinds of expressions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class IdTerm:
    """The id of a person; persons that an equality of ids unites are the same."""

    person: int


@dataclass(frozen=True)
class ItemTerm:
    """The item of one row."""

    row: int


@dataclass(frozen=True)
class ChangedItem:
    """A function of the item of one row: ``lower``, ``upper`` or ``trim``."""

    row: int
    change: str


@dataclass(frozen=True)
class ItemsTerm:
    """The list of a person's items that pass a test; ``nullable`` if it may be NULL for a person without items."""

    person: int
    test: ItemTest = ANY_ITEM
    nullable: bool = True


@dataclass(frozen=True)
class NumberTerm:
    """The number of a person's items that pass a test; at least 1 if the group has a row for each."""

    test: ItemTest


@dataclass(frozen=True)
class SumTerm:
    """The sum of the weights of a person's items."""

    weights: Weights


@dataclass(frozen=True)
class FlagTerm:
    """A number that is 1 if the condition holds, else 0."""

    condition: Condition


@dataclass(frozen=True)
class TruthTerm:
    """A named condition."""

    condition: Condition


@dataclass(frozen=True)
class TextTerm:
    """A text literal."""

    label: str


@dataclass(frozen=True)
class IntegerTerm:
    """A whole number."""

    value: int


@dataclass(frozen=True)
class ListTerm:
    """A list of literals."""

    labels: frozenset[str]


@dataclass(frozen=True)
class OptionalTerm:
    """A column of the right side of a LEFT JOIN: NULL unless ``present`` holds."""

    present: Condition


@dataclass(frozen=True)
class AttributeTerm:
    """A relational value of the person, who is the same in the whole query."""

    attribute: Attribute


Column = IdTerm | ItemTerm | ItemsTerm | NumberTerm | SumTerm | FlagTerm | TruthTerm | OptionalTerm | AttributeTerm
Term = Column | ChangedItem | TextTerm | IntegerTerm | ListTerm


@dataclass(frozen=True)
class Relation:
    """Rows of one person: ``condition`` over ``rows``; ``exact`` if the number of rows is known."""

    columns: tuple[tuple[str, Column], ...]
    rows: frozenset[int]
    condition: Condition
    person: int
    linked: bool = False
    exact: bool = True


@dataclass
class Group:
    """The rows of one person under GROUP BY, the input of aggregates; ``exact`` if no row can occur several times."""

    tests: Mapping[int, ItemTest]
    rows: frozenset[int]
    mixed: bool
    exact: bool


@dataclass
class Scope:
    """The FROM clause of one SELECT while it is read."""

    outer: Scope | None
    env: Mapping[str, Relation]
    sources: list[tuple[str, dict[str, list[Column]]]] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    conditions: list[Condition] = field(default_factory=list)
    exact: bool = True
    optional: list[Condition] = field(default_factory=list)
    compared: list[tuple[str, int, int]] = field(default_factory=list)  # the signs between the items of two rows
    group: Group | None = None
    aliases: dict[str, exp.Expr] = field(default_factory=dict)


# --- small helpers --------------------------------------------------------------------------------------------------


def bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_null(node: exp.Expr) -> exp.Expr:
    """The condition that an expression is NULL: sqlglot writes no parentheses around NOT."""
    return exp.Is(this=exp.paren(node.copy()) if isinstance(node, exp.Not) else node.copy(), expression=exp.null())


def operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of AND or OR, from left to right, without recursion."""
    kind, leaves, todo = type(node), [], [node]
    while todo:
        top = bare(todo.pop())
        if type(top) is kind:
            todo += [top.args["expression"], top.args["this"]]
        else:
            leaves.append(top)
    return leaves


def whole(node: exp.Literal) -> int:
    """The value of a literal that is a whole number."""
    if not (node.name.isascii() and node.name.isdigit()) or len(node.name) > 38:
        raise unsupported("a number that is not whole", "Write items as texts.")
    return int(node.name)


def function_name(node: exp.Expr) -> str:
    """The name of a table function."""
    if isinstance(node, exp.Anonymous):
        return str(node.name)
    return node.sql_names()[0] if isinstance(node, exp.Func) else node.key.upper()


def aliased(tree: exp.Select, node: exp.Column) -> exp.Column | None:
    """The column that an unqualified name refers to as an alias of the SELECT."""
    for selected in tree.expressions:
        if isinstance(selected, exp.Alias) and not node.table and lowered(selected.alias) == lowered(node.name):
            inner = bare(selected.this)
            return inner if isinstance(inner, exp.Column) else None
    return None


def with_names(relation: Relation, alias: exp.Expr) -> Relation:
    """The relation with the column names of an alias such as ``a(x, y)``."""
    only(alias, "this", "columns")
    names = [lowered(c.name) for c in alias.args.get("columns") or ()]
    if len(names) > len(relation.columns):
        raise unsupported("more column names than columns")
    kept = relation.columns[len(names) :]
    renamed_columns = tuple((n, c) for n, (_, c) in zip(names, relation.columns, strict=False))
    return replace(relation, columns=renamed_columns + kept)


def by_name(columns: Sequence[tuple[str, Column]]) -> dict[str, list[Column]]:
    """Group columns by name."""
    columns_by_name: dict[str, list[Column]] = {}
    for name, column in columns:
        columns_by_name.setdefault(name, []).append(column)
    return columns_by_name


def moved(column: Column, rows: Mapping[int, int], person: int) -> Column:
    """A column with its rows and person renumbered."""
    if isinstance(column, IdTerm):
        return IdTerm(person)
    if isinstance(column, ItemTerm):
        return ItemTerm(rows[column.row])
    return replace(column, person=person) if isinstance(column, ItemsTerm) else column


def counts_each_row(count: exp.Expr, tree: exp.Expr, never_null: Callable[[exp.Column], bool]) -> bool:
    """Whether a count is above 0 for every group of rows of a query: that of ``*``, or of a column that is never NULL."""
    if not isinstance(count, exp.Count):
        return False
    counted = count.this
    if isinstance(counted, exp.Distinct) and len(counted.expressions) == 1:
        counted = bare(counted.expressions[0])
    if isinstance(counted, exp.Star):
        return True
    outer = any(join.side for join in tree.find_all(exp.Join))
    return isinstance(counted, exp.Column) and not outer and never_null(counted)

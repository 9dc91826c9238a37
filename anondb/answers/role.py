"""The role of a value: a key, an id, or a number of several rows, and what this is in a possible world without the rows.

There counts and sums are 0, the keys are those of the group, and an expression is computed of these. Other aggregates and
what other rows tell, such as windows, are unknown: what depends on them has no value there, but COALESCE and the like read
an aggregate as NULL.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from sqlglot import exp

from anondb.answers.ranged.clauses import is_same_key
from anondb.query.parsing import operands

ZERO = exp.Literal.number(0)
AGGREGATE = "aggregate"
MAX_OPERANDS = 100  # of AND and OR
MAX_NODES = 2_000  # of an expression without its rows, in which the same column may be named many times
_PROBES = ((3.25, 2), (7.5, 5))  # two numbers for each unknown one: what is the same for both does not depend on it


@dataclass(frozen=True)
class Role:
    """What the values of a column are.

    Attributes:
        kind: ``key``, values that no aggregate computes, by which rows match; ``id``, ids of persons; or ``computed`` from
            several rows.
        absent: what a computed value is where there is no such row (``without_row``); None if its operands tell it.
    """

    kind: str
    absent: exp.Expr | None = None

    KEY: ClassVar[Role]
    ID: ClassVar[Role]
    TOTAL: ClassVar[Role]
    VALUE: ClassVar[Role]

    @property
    def computed(self) -> bool:
        """Whether it is computed from several rows."""
        return self.kind == "computed"

    def of_source(self, place: str) -> Role:
        """The role as that of a column of a source, whose unknown values are its own."""
        if self.absent is None or self.absent.find(exp.Placeholder) is None:
            return self

        def own(node: exp.Expr) -> exp.Expr:
            return exp.Placeholder(this=f"{node.name} {place}") if isinstance(node, exp.Placeholder) else node

        return Role(self.kind, self.absent.transform(own))


Role.KEY, Role.ID, Role.VALUE = Role("key"), Role("id"), Role("computed")
Role.TOTAL = Role("computed", ZERO)  # counts and sums


def of_others(node: exp.Expr, name: str = "") -> Role:
    """The role of an expression that other rows than those of its group tell, or of an aggregate that is NULL of none."""
    return Role("computed", exp.Placeholder(this=f"{name} {hash(node)}"))


def absent_row(node: exp.Expr, roles: Mapping[int, Role], keys: Mapping[int, exp.Expr]) -> Role:
    """The role of a computed expression that a SELECT shows; a very long one is unknown without its rows."""
    absent = without_row(node, roles, keys)
    long = next(islice(absent.walk(), MAX_NODES, None), None) is not None
    return of_others(node) if long else Role("computed", absent)


def without_row(node: exp.Expr, roles: Mapping[int, Role], keys: Mapping[int, exp.Expr]) -> exp.Expr:
    """An expression of a SELECT as it is without the rows of its group.

    Args:
        node: the expression.
        roles: the roles of its parts, by their identity.
        keys: the keys that the SELECT shows, by the numbers of their columns, which become ``c<n>``.
    """
    place = next((n for n, key in keys.items() if is_same_key(key, node)), None)
    if place is not None:
        return exp.column(f"c{place}")
    role = roles.get(id(node))
    if role is not None and role.absent is not None:
        return role.absent.copy()
    if isinstance(node, exp.Query | exp.Column) or (isinstance(node, exp.Connector) and len(operands(node)) > MAX_OPERANDS):
        return of_others(node).absent or exp.null()

    def of(part: object) -> object:
        return without_row(part, roles, keys) if isinstance(part, exp.Expr) else part

    parts = {name: [*map(of, part)] if isinstance(part, list) else of(part) for name, part in node.args.items()}
    made = type(node)(**parts)
    if isinstance(made, exp.Div | exp.IntDiv):
        made.set("expression", exp.Nullif(this=made.expression, expression=ZERO.copy()))
    return made


def value_of(absent: exp.Expr, keys: Collection[str]) -> exp.Expr:
    """The number that an expression is, of the columns of keys; NULL if it depends on what is unknown."""

    def is_hole(node: exp.Expr) -> bool:
        return isinstance(node, exp.Placeholder) or (isinstance(node, exp.Column) and node.name not in keys)

    holes = {hole: n for n, hole in enumerate(dict.fromkeys(filter(is_hole, absent.walk())))}

    def probed(first: float, step: int, *, nulls: bool) -> exp.Expr:
        def filled(node: exp.Expr) -> exp.Expr:
            if not is_hole(node):
                return node
            null = nulls and node.name.startswith(AGGREGATE)
            return exp.null() if null else exp.Literal.number(str(first + step * holes[node]))

        return exp.Anonymous(this="try", expressions=[exp.cast(absent.transform(filled), "DOUBLE")])

    ifs = []
    for nulls in (False, True):
        one, other = (probed(*probe, nulls=nulls) for probe in _PROBES)
        ifs.append(exp.If(this=exp.EQ(this=one.copy(), expression=other), true=one))
    return exp.Case(ifs=ifs) if holes else probed(*_PROBES[0], nulls=False)

"""Whether each row of a query over persons is of one person, which rules of bounds take for granted.

Sources of persons are linked by equal ids, where these are conditions of the SELECT itself: in WHERE or in a join, connected
by AND. A subquery may link its persons with one person of the queries around it. An id of a query around it in another place
relates different persons.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from anondb.answers.ranged.clauses import conditions_of
from anondb.answers.role import Role
from anondb.answers.roles import Person, Scope
from anondb.query.parsing import bare, conjoined, lowered

JOINED = "a join without equal ids, of the rows of different persons"
OUTER = "an id of the outer query in another place than a comparison of ids"


def unlinked(node: exp.Select, scope: Scope) -> str | None:
    """The construct of a SELECT that relates different persons; None if there is none.

    Args:
        node: the SELECT.
        scope: its sources; it gets the persons of each.
    """
    scope.persons = persons_of(scope)
    outer = set[Person]()
    linking = set[int]()
    for columns in sorted(_equal(node), key=lambda sides: len(sides[0] + sides[1])):  # what links ids of COALESCE is first
        people = [{_person(column, scope) for column in side} for side in columns]
        if any(len(side) > 1 or None in side for side in people):
            continue
        ((one,), (two,)) = people
        assert one is not None and two is not None
        linking |= {id(column) for side in columns for column in side}
        outer |= {person for person in (one, two) if person not in scope.persons.values()}
        _unite(scope, one, two)
    _unite_shared(node, scope)
    if len(outer) > 1 or len(set(scope.persons.values())) > 1:
        return JOINED
    used = (column for column in _columns(node) if scope.role(column) is Role.ID and not scope.owners(column))
    return OUTER if any(id(column) not in linking for column in used) else None


def persons_of(scope: Scope) -> dict[int, Person]:
    """The sources of persons, each of another person until conditions on ids are read."""
    return {n: (id(scope), n) for n, (_, relation) in enumerate(scope.sources) if relation.of_persons}


def _equal(node: exp.Select) -> Iterator[tuple[list[exp.Column], list[exp.Column]]]:
    """The columns that conditions of a SELECT, connected by AND, say to be equal; for COALESCE all of its columns."""
    on = [part for join in node.args.get("joins") or () for part in conjoined(join.args.get("on"))]
    for part in (*conditions_of(node), *on):
        one, two = (_alternatives(part.this), _alternatives(part.expression)) if isinstance(part, exp.EQ) else ([], [])
        if one and two:
            yield one, two


def _alternatives(node: exp.Expr) -> list[exp.Column]:
    """A column, or those of COALESCE; none for other expressions."""
    side = bare(node)
    parts = [bare(part) for part in ([side.this, *side.expressions] if isinstance(side, exp.Coalesce) else [side])]
    columns = [part for part in parts if isinstance(part, exp.Column)]
    return columns if len(columns) == len(parts) else []


def _person(column: exp.Column, scope: Scope) -> Person | None:
    """The person whose id a column is; None for other columns."""
    if scope.role(column) is not Role.ID:
        return None
    owners = ((here, n) for here in scope.around() for n in here.owners(column))
    return next((here.persons[n] for here, n in owners if n in here.persons), None)


def _unite(scope: Scope, one: Person, two: Person) -> None:
    """Make two persons one, under the name of that of an outer query."""
    kept, gone = (one, two) if two in scope.persons.values() else (two, one)
    scope.persons = {n: kept if person == gone else person for n, person in scope.persons.items()}


def _unite_shared(node: exp.Select, scope: Scope) -> None:
    """Make the persons one whose ids USING compares."""
    for join in node.args.get("joins") or ():
        shared = {lowered(name.name) for name in join.args.get("using") or ()}
        having = [n for n in scope.persons if shared & {c for c, role in scope.sources[n][1].columns if role is Role.ID}]
        for n in having[1:]:
            _unite(scope, scope.persons[having[0]], scope.persons[n])


def _columns(node: exp.Select) -> Iterator[exp.Column]:
    """The columns of a SELECT itself, without those of the queries in it, and without what EXISTS does not look at."""
    shown = node.expressions if isinstance(node.parent, exp.Exists) else []
    todo = [p for p in node.iter_expressions() if not isinstance(p, exp.With) and not any(p is other for other in shown)]
    while todo:
        part = todo.pop()
        if isinstance(part, exp.Column):
            yield part
        elif not isinstance(part, exp.Query):
            todo += part.iter_expressions()

"""Tables with known rows that a query joins with persons by the item: taxonomies, price lists, the analyst's own groups.

Such a table leaves the FROM clause: a condition on its columns becomes a condition on the item (``item IN (...)``), a number
becomes a weight of each item, a grouped expression becomes groups of items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.refusals import only, unsupported
from anondb.query.relations import bare, operands
from anondb.session.compiler import Compiler, Env
from anondb.session.conversion import Converter
from anondb.session.joined import Dimension, Registry
from anondb.session.sources import source_rows


class Dimensions:
    """Removes tables with known rows from the SELECTs of persons."""

    def __init__(self, compiler: Compiler, registry: Registry, is_person: Callable[[exp.Expr, Env], bool]) -> None:
        self._compiler, self._registry, self._is_person = compiler, registry, is_person

    def without(
        self, node: exp.Select, env: Env, is_column: Callable[[exp.Select, exp.Column], bool]
    ) -> tuple[exp.Select, Converter]:
        """FROM, joins and WHERE of a SELECT of persons without its known tables, and what converts its expressions.

        Args:
            node: the SELECT.
            env: the common table expressions that it sees.
            is_column: whether a name is a column of the persons of a FROM clause.

        Raises:
            InputError: ``unsupported_query``.
        """
        joins = list(node.args.get("joins") or ())
        places = [node.args["from_"], *joins]
        known = [place for place in places if not self._is_person(place.this, env)]
        people = [place for place in places if not any(place is other for other in known)]
        pool = _conjuncts(node.args.get("where"))
        made = exp.select().from_(people[0].this.copy())
        if known and isinstance(
            people[0], exp.Join
        ):  # a known table came first: the condition of the join moves to WHERE
            if people[0].side:
                raise unsupported(
                    f"{people[0].side} JOIN of persons to a table of your own",
                    "Group by its columns alone, and count a column of the persons: count(id) in place of count(*).",
                )
            only(people[0], "this", "on", "using", "kind")
            pool += _conjuncts(people[0], "on")
        made.set("joins", [join.copy() for join in people[1:]])

        def is_people(column: exp.Column) -> bool:
            return is_column(made, column)

        dimensions = []
        for place in known:
            if isinstance(place, exp.Join) and place.side != "LEFT":
                pool += _conjuncts(place, "on")
            dimensions.append(self._dimension(place, joins, pool, env, is_people))
        converter = Converter(dimensions, is_people, self._registry)
        conditions = [converter.condition(c) for c in converter.merged(pool)]
        conditions += [converter.among(d, lambda _: True, exp.true()) for d in dimensions if not d.outer]
        if conditions:
            made.set("where", exp.Where(this=exp.and_(*map(exp.paren, conditions))))
        return made, converter

    def _dimension(
        self,
        place: exp.Expr,
        joins: Sequence[exp.Join],
        pool: list[exp.Expr],
        env: Env,
        is_people: Callable[[exp.Column], bool],
    ) -> Dimension:
        """A known table with the columns by which it is joined; their equality leaves the conditions of the SELECT."""
        relation, alias = source_rows(self._compiler, place.this, env)
        if not relation.exact:
            raise unsupported("a join of persons with estimates", "Join the results of two queries.")
        names = {lowered(c.name) for c in relation.columns}
        outer, using = False, None
        if isinstance(place, exp.Join):
            only(place, "this", "side", "kind", "on", "using")
            if place.side not in ("", "LEFT") or place.kind not in ("", "INNER", "CROSS", "OUTER"):
                raise unsupported(f"{place.side or place.kind} JOIN with the table {alias!r}")
            outer = place.side == "LEFT"
            if len(place.args.get("using") or ()) > 1:
                raise unsupported("USING with several columns", "Join items on the item alone.")
            using = next(iter(place.args.get("using") or ()), None)
        else:
            shared = (u for join in joins for u in join.args.get("using") or ())
            using = next((u for u in shared if lowered(u.name) in names), None)
        if using is not None:
            return Dimension(lowered(alias), relation, exp.column(using.name), exp.column(using.name, alias), outer)
        conditions = _conjuncts(place, "on") if outer else pool
        if outer and len(conditions) > 1:
            raise unsupported("LEFT JOIN of items on more than the item")
        for condition in conditions:
            parts = (condition.left, condition.right) if isinstance(condition, exp.EQ) else ()
            sides = [side for side in map(bare, parts) if isinstance(side, exp.Column)]
            for one, two in (sides, sides[::-1]) if len(sides) == 2 else ():
                of_table = lowered(two.table) == lowered(alias) if two.table else lowered(two.name) in names
                if of_table and lowered(one.table) != lowered(alias) and is_people(one):
                    pool[:] = [c for c in pool if c is not condition]
                    return Dimension(lowered(alias), relation, one, two, outer)
        raise unsupported(f"a join with the table {alias!r} without an equal item", "Join it on the item column.")


def _conjuncts(node: exp.Expr | None, key: str = "this") -> list[exp.Expr]:
    """The conditions that WHERE or ON connects by AND."""
    condition = node.args.get(key) if node is not None else None
    if condition is None:
        return []
    whole = bare(condition)
    return operands(whole) if isinstance(whole, exp.And) else [whole]

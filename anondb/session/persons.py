"""SELECTs over the tables of persons: their groups, and the counts that the release answers for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from anondb.query.refusals import only, too_complex, unsupported
from anondb.query.relations import bare, counts_each_row
from anondb.session.aggregates import aggregates
from anondb.session.asking import CHOSEN, ROWS, asking, asking_by, is_count, largest
from anondb.session.attribute_tests import with_listed_values
from anondb.session.compiler import Compiler, Env, Facts, with_ctes
from anondb.session.conversion import Converter
from anondb.session.counts import composed
from anondb.session.dimensions import Dimensions
from anondb.session.keys import VALUE, Domain, domain, equal_to, one_listed
from anondb.session.known import LIKELY, SURE, Column, Known
from anondb.session.rows_of_persons import Bounds, Row, RowsOfPersons
from anondb.session.sources import grouped
from anondb.session.spelling import gives_items

MAX_GROUPS = 1_000


@dataclass
class Persons(RowsOfPersons):
    """The tables of persons of a session (``compiler.People``)."""

    # ---------------------------------------------------------------- groups and counts

    def facts(self, node: exp.Select, env: Env, compiler: Compiler) -> Facts:
        """The groups and counts of a SELECT over tables of persons.

        Raises:
            InputError: ``unsupported_query``, ``query_too_complex``, ``ambiguous_item``.
        """
        base, converter = self._base(node, env, compiler)
        keys = self._keys(node, base)

        def kind_of(column: exp.Column) -> str:
            key = self.counts.kind(base, column)
            return "" if key is None else key.what

        domains = one_listed(
            [domain(self._tested(converter.key(key), base), base, self.counts) for key in keys], base, self.counts
        )
        replaced: dict[exp.Expr, exp.Expr] = {}
        basics: list[exp.Expr] = []
        for part in (*node.expressions, *(node.args.get(k) for k in ("having", "qualify", "order"))):
            for call in aggregates(part):
                made = composed(self._tested(converter.expression(call), base), basics, kind_of)
                replaced[call] = _as_date(made) if self._is_date(base, call) else made
        once = self._listed_once(base, domains, basics)
        if once is None:
            rows = self._rows(base, domains, basics, None if compiler.listing else largest(node, replaced))
            tree = self.counts.put([d.kind for d in domains], rows, len(basics))
            sure = all((counts[-1][0] or 0) >= 1 for counts in rows.values())
        else:
            tree = self.counts.put_listed(domains[0].kind, once, len(basics))
            sure = all(lower >= 1 for _, lower, _, upper in once if upper != 0)
        spelled = [gives_items(d, base, self.counts) for d in domains]
        columns = [Column(f"#k{n}", item=item, plain=item) for n, item in enumerate(spelled)]
        for n, basic in enumerate(basics):
            number = is_count(basic)
            columns.append(Column(f"#{n}", bounded=True, present=number, unsigned=number))
        some = any(d.open for d in domains)
        known = Known(tree, tuple(columns), flagged=bool(keys), open=some, unsure=bool(keys) and not sure)
        return Facts(known, {key: n for n, key in enumerate(keys)}, replaced)

    # ---------------------------------------------------------------- tables with known rows

    def _base(self, node: exp.Select, env: Env, compiler: Compiler) -> tuple[exp.Select, Converter]:
        """FROM, joins and WHERE of a SELECT of persons alone, with the common table expressions that it sees."""
        base, converter = self._reduced(node, env, compiler, outermost=True)
        seen = []
        for cte in env.values():
            if cte.of_persons:
                made = cte.node.copy()
                made.set("this", self._prepared(cte.node.this, cte.env, compiler))
                seen.append(made)
        if seen:
            base.set("with_", exp.With(expressions=seen))
        return base, converter

    def _reduced(
        self, node: exp.Select, env: Env, compiler: Compiler, *, outermost: bool = False
    ) -> tuple[exp.Select, Converter]:
        """FROM, joins and WHERE without known tables, also in the subqueries of persons there."""
        made = exp.Select()
        for key in ("from_", "joins", "where"):
            part = node.args.get(key)
            if part:
                made.set(key, [p.copy() for p in part] if isinstance(part, list) else part.copy())
        for inner in _subqueries(made):
            prepared = self._prepared(inner, env, compiler, outermost=outermost and _is_list_of_ids(inner))
            self._check_place(inner, prepared is inner)
            if prepared is not inner:
                inner.replace(prepared)
            elif isinstance(inner.find_ancestor(exp.In, exp.Subquery, exp.From, exp.Join, exp.Exists), exp.Subquery):
                self._listed_values(inner, env, compiler, outermost)
        base, converter = Dimensions(compiler, self.counts, self.is_source).without(made, env, self._is_column)
        where = base.args.get("where")
        if where is not None:
            where.set("this", self._tested(where.this, base, where=True))
        return base, converter

    def _is_date(self, base: exp.Select, call: exp.Expr) -> bool:
        """Whether an aggregate is the least or the greatest date of persons, for which releases answer with days."""
        inner = call.this if isinstance(call, exp.Filter) else call
        column = bare(inner.this) if isinstance(inner, exp.Min | exp.Max) else None
        key = self.counts.kind(base, column) if isinstance(column, exp.Column) else None
        return key is not None and key.kind == "DATE"

    def _tested(self, node: exp.Expr, base: exp.Select, *, where: bool = False) -> exp.Expr:
        """An expression of a SELECT, with conditions on functions of attributes as conditions on their values."""
        bare_from = base.copy()
        bare_from.set("where", None)
        return with_listed_values(node, bare_from, self.counts, where=where)

    def _prepared(self, node: exp.Expr, env: Env, compiler: Compiler, *, outermost: bool = False) -> exp.Expr:
        """A query of persons without known tables; a subquery of known rows as the list of its values."""
        env = with_ctes(node, env, self.of_persons)
        if isinstance(node, exp.SetOperation | exp.Subquery):
            whole = node.copy()
            for key in ("this", "expression"):
                side = node.args.get(key)
                if side is not None:
                    whole.set(key, self._prepared(side, env, compiler))
            return whole
        if not isinstance(node, exp.Select) or not self.of_persons(node, env):
            return node
        base, converter = self._reduced(node, env, compiler, outermost=outermost)
        converter.inner = True
        if node.args.get("distinct") is None and node.args.get("group") is None:
            converter.check_joined(node)
        made = node.copy()
        for key in ("from_", "joins", "where"):
            made.set(key, base.args.get(key))
        made.set("expressions", [converter.expression(e) for e in node.expressions])
        if any(isinstance(call, exp.Anonymous) and call.name == VALUE for e in made.expressions for call in e.walk()):
            raise unsupported("a column of a joined table in the SELECT of a subquery", "Join it around the subquery.")
        if node.args.get("having") is not None:
            converter.check_rows(node.args["having"])
            made.set("having", exp.Having(this=converter.condition(node.args["having"].this)))
        return made

    @staticmethod
    def _check_place(node: exp.Expr, known: bool) -> None:
        """Refuse a subquery that is a condition by itself, and EXISTS over known rows."""
        place = node.parent
        while isinstance(place, exp.Subquery | exp.Paren):
            place = place.parent
        if known and isinstance(place, exp.Exists):
            raise unsupported("EXISTS over a table of your own", "Write column IN (SELECT ... FROM ...).")
        if isinstance(place, exp.Where | exp.Connector | exp.Not) or (
            isinstance(place, exp.Join) and place.args.get("on") is not None and node in place.args["on"].walk()
        ):
            raise unsupported("a subquery as a condition", "Compare it, or use IN.")

    def _listed_values(self, node: exp.Expr, env: Env, compiler: Compiler, outermost: bool) -> None:
        """Replace ``IN (subquery of known rows)`` by a list of its values.

        Values that a count may or may not choose are marked (``CHOSEN``) where a count of the outermost SELECT can only
        rise, or only fall, with each of them.
        """
        subquery = node.parent
        place = subquery.parent if isinstance(subquery, exp.Subquery) else None
        if not isinstance(place, exp.In) or place.args.get("query") is not subquery or self.of_persons(node, env):
            return
        known = compiler.listed(node, env)
        chosen = known.flagged and not known.open and outermost and _is_conjunct(place, negated=True)
        if len(known.columns) != 1 or not (known.exact or (chosen and replace(known, flagged=False).exact)):
            raise unsupported("IN with a subquery of estimates" + (", or of suppressed rows" if known.open else ""))
        source = exp.Subquery(this=known.tree, alias=exp.TableAlias(this=exp.to_identifier("listed")))
        flags = [exp.column(name) if known.flagged else exp.true() for name in (SURE, LIKELY)]
        rows = self.counts.rows(exp.select(exp.cast(exp.column("c0"), "VARCHAR"), *flags).from_(source))
        values = [value for value, _, _ in rows]
        if known.flagged:
            place.meta[CHOSEN] = tuple(
                sorted({row[0] for row in rows if row[n] and row[0] is not None}) for n in (1, 2)
            )
        if None in values and not _is_conjunct(place):
            raise unsupported("NOT IN with a subquery that has NULLs", "Leave them out with IS NOT NULL.")
        listed = sorted({v for v in values if v is not None})
        place.set("query", None)
        place.set("expressions", [exp.Literal.string(v) for v in listed])
        if not listed:
            place.replace(exp.false())

    def _is_column(self, base: exp.Select, column: exp.Column) -> bool:
        """Whether a name is a column of the persons of a FROM clause."""
        bare_from = base.copy()
        bare_from.set("where", None)
        return self.counts.kind(bare_from, column) is not None

    # ---------------------------------------------------------------- groups

    def _keys(self, node: exp.Select, base: exp.Select) -> list[exp.Expr]:
        if node.args.get("group") is not None:
            return list(dict.fromkeys(grouped(node, lambda column: self.counts.kind(base, column) is not None)))
        if node.args.get("distinct") is None:
            return []
        only(node.args["distinct"])
        return list(dict.fromkeys(e.this if isinstance(e, exp.Alias) else e for e in node.expressions))

    def _listed_once(
        self, base: exp.Select, domains: Sequence[Domain], basics: Sequence[exp.Expr]
    ) -> Sequence[Row] | None:
        """The groups by the item with at most one count, whose answer need not be taken apart; None for others."""
        if len(domains) != 1 or domains[0].values is not None or not domains[0].of_items or len(basics) > 1:
            return None
        (count,) = basics or [ROWS]
        if not self._each_row(base, count):  # nor does FILTER choose the groups
            return None
        return self.counts.answer(asking_by(base, [domains[0].key], count, ()))

    def _rows(
        self, base: exp.Select, domains: Sequence[Domain], basics: Sequence[exp.Expr], most: exp.Limit | None
    ) -> dict[Row, list[Bounds]]:
        """The groups, each with the bounds of each count; the last ones are of the persons of the group."""
        if not domains:
            return {(): [self._one(base, count, ()) for count in basics]}
        listed = [n for n, d in enumerate(domains) if d.values is None]
        if len(listed) > 1 and not (len(listed) == 2 and all(domains[n].of_items for n in listed)):
            raise unsupported(
                "GROUP BY several columns of items or attributes", "Group by one, and name values of the others."
            )
        others = [[(None, exp.true())] if d.values is None else d.values for d in domains]
        groups = list(product(*others))
        if len(groups) > MAX_GROUPS:
            raise too_complex(f"it has over {MAX_GROUPS} groups")
        rows: dict[Row, list[Bounds]] = {}
        for group in groups:
            if any(c == exp.false() for _, c in group):
                continue
            values, conditions = [v for v, _ in group], [c for _, c in group if not isinstance(c, exp.Boolean)]
            some = next((c for c in basics if self._each_row(base, c)), ROWS)
            if not listed:
                counts = {count: self._one(base, count, conditions) for count in dict.fromkeys((*basics, some))}
                rows[tuple(values)] = [counts[count] for count in (*basics, some)]
                continue
            largest = most if len(listed) == 2 and len(domains) == 2 and list(basics) == [some] else None
            known = self._listed(base, [domains[n].key for n in listed], some, conditions, largest)
            of = [domains[n] for n in listed]
            answers = [
                *(known if c == some else self._of_values(base, of, c, conditions, known) for c in basics),
                known,
            ]
            if len(of) == len(domains) and all(answer is known for answer in answers):
                rows |= {value: [bounds] * len(answers) for value, bounds in known.items()}
                continue
            absent = [self._absent(base, of, c) for c in (*basics, some)]
            for value in known:
                at = list(values)
                for n, cell in zip(listed, value, strict=True):
                    at[n] = cell
                rows[tuple(at)] = [answer.get(value, none) for answer, none in zip(answers, absent, strict=True)]
        return {at: counts for at, counts in rows.items() if counts[-1][2] != 0}

    def _each_row(self, base: exp.Select, count: exp.Expr) -> bool:
        """Whether the groups are those for which a count is above 0."""

        def never_null(column: exp.Column) -> bool:
            key = self.counts.kind(base, column)
            return key is not None and key.what in ("id", "item")

        return not self._values_of(base, count) and counts_each_row(count, base, never_null)

    def _absent(self, base: exp.Select, of: Sequence[Domain], count: exp.Expr) -> Bounds:
        """A count for values that its answer does not list: not known for those that other files list than FILTER chooses,
        where items may be suppressed."""
        keys = (self.counts.kind(base, column) for column in count.find_all(exp.Column))
        chosen = isinstance(count, exp.Filter) and any(key is not None and key.what == "part" for key in keys)
        return 0, 0.0, None if chosen and any(d.open for d in of) else 0

    def _one(self, base: exp.Select, count: exp.Expr, conditions: Sequence[exp.Expr]) -> Bounds:
        """One count of one group."""
        column = self._values_of(base, count)
        if column is not None:
            return self._number_of_values(base, column, count, conditions)
        ((lower, estimate, upper),) = self.counts.answer(asking(base, count, conditions))
        return lower, estimate, upper

    def _values_of(self, base: exp.Select, count: exp.Expr) -> exp.Column | None:
        """The column of ``count(DISTINCT ...)`` of items or of an attribute; None for other aggregates."""
        call = count.this if isinstance(count, exp.Filter) else count
        distinct = call.this if isinstance(call, exp.Count) else None
        if not isinstance(distinct, exp.Distinct) or len(distinct.expressions) != 1:
            return None
        column = bare(distinct.expressions[0])
        if not isinstance(column, exp.Column):
            return None
        key = self.counts.kind(base, column)
        return column if key is not None and key.what in ("item", "attribute") else None

    def _number_of_values(
        self, base: exp.Select, column: exp.Column, count: exp.Expr, conditions: Sequence[exp.Expr]
    ) -> Bounds:
        """The number of items or values that some person of a group has; suppressed items may be more."""
        rows = exp.Filter(this=ROWS, expression=count.expression) if isinstance(count, exp.Filter) else ROWS
        answers = self._listed(base, [column], rows, conditions)
        listed = [bounds for (value,), bounds in answers.items() if value is not None]
        lower = sum((low or 0) >= 1 for low, _, _ in listed)
        upper = sum(high is None or high >= 1 for _, _, high in listed)
        estimate = sum(min(middle or 0.0, 1.0) for _, middle, _ in listed)
        key = self.counts.kind(base, column)
        hidden = self.counts.hidden if key is not None and key.what == "item" else 0
        return lower, max(estimate, lower), None if hidden is None else upper + hidden

    def _of_values(
        self,
        base: exp.Select,
        of: Sequence[Domain],
        count: exp.Expr,
        conditions: Sequence[exp.Expr],
        known: Mapping[Row, Bounds],
    ) -> Mapping[Row, Bounds]:
        """One count or aggregate for each listed value; aggregates of numbers are asked one by one."""
        if is_count(count) and not self._values_of(base, count):
            return self._listed(base, [d.key for d in of], count, conditions)
        if len(known) > MAX_GROUPS:
            raise too_complex(f"it has over {MAX_GROUPS} groups")
        equal = {row: [equal_to(d.key, v, d.kind) for d, v in zip(of, row, strict=True)] for row in known}
        return {row: self._one(base, count, [*conditions, *equal[row]]) for row in known}

    def _listed(
        self,
        base: exp.Select,
        keys: Sequence[exp.Expr],
        count: exp.Expr,
        conditions: Sequence[exp.Expr],
        most: exp.Limit | None = None,
    ) -> dict[Row, Bounds]:
        """One count for each value of a column, or of two; perhaps the largest ones alone."""
        tree = asking_by(base, keys, count, conditions)
        if most is not None:
            tree.set("order", exp.Order(expressions=[exp.Ordered(this=count.copy(), desc=True)]))
            tree.set("limit", most.copy())
        return {row[:-3]: row[-3:] for row in self.counts.answer(tree)}


def _as_date(days: exp.Expr) -> exp.Expr:
    """The date so many days after 1970-01-01."""
    first = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
    return exp.Add(this=first, expression=exp.cast(exp.paren(days), "INTEGER"))


def _is_conjunct(node: exp.Expr, *, negated: bool = False) -> bool:
    """Whether only AND, OR and parentheses, and perhaps NOT, lie between a condition and its clause."""
    above, between = node.parent, (exp.And, exp.Or, exp.Paren, *([exp.Not] if negated else []))
    while isinstance(above, between):
        above = above.parent
    return isinstance(above, exp.Where | exp.Join | exp.Having)


def _is_list_of_ids(node: exp.Expr) -> bool:
    """Whether a query is the list of ``id IN (SELECT id ... WHERE ...)``.

    Persons can only join the list, or only leave it, with each item that its condition may choose.
    """
    place = node.parent.parent if isinstance(node.parent, exp.Subquery) else None
    plain = isinstance(node, exp.Select) and not any(
        node.args.get(key) for key in ("group", "having", "limit", "qualify")
    )
    return (
        plain
        and isinstance(place, exp.In)
        and place.args.get("query") is node.parent
        and _is_conjunct(place, negated=True)
    )


def _subqueries(node: exp.Select) -> list[exp.Expr]:
    """The outermost queries inside FROM, joins and WHERE."""
    listed: list[exp.Expr] = []
    todo = list(node.iter_expressions())
    while todo:
        part = todo.pop()
        if isinstance(part, exp.Select | exp.SetOperation):
            listed.append(part)
        else:
            todo += part.iter_expressions()
    return listed

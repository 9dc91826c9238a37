"""Statements that change rows of the analyst's own tables: INSERT, UPDATE, DELETE and MERGE. Each gives a table a new query
over the one that it had, or over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.engine import readable, reads
from anondb.engine.trees import united
from anondb.errors import InputError
from anondb.query.parsing import lowered
from anondb.query.refusals import only, unsupported
from anondb.session.result import Result
from anondb.session.scratch import Scratch, rows_of

HINT = "Write CREATE TABLE name AS SELECT ..., and INSERT, UPDATE and DELETE with plain conditions."
ACTION = "merge_action"  # the column of MERGE ... RETURNING that says what was done with a row
EXCLUDED = "excluded"  # the name of the rows that INSERT ... ON CONFLICT would add


@dataclass(frozen=True)
class Done:
    """What a statement did: the number of rows that it changed, if that is known, or the rows that it returns; and notes."""

    rows: int | None = None
    notes: Sequence[str] = ()
    returned: Result | None = None

    @property
    def shown(self) -> exp.Select:
        """The number of changed rows as a result with the column ``Count``; without rows if it is not known."""
        number = exp.select(exp.cast(exp.convert(self.rows or 0), "BIGINT").as_("Count"))
        return number if self.rows is not None else number.limit(0)


@dataclass(frozen=True)
class Clause:
    """What happens to the rows of a table that meet a condition, and none of the clauses before it.

    Attributes:
        met: the condition; None for all rows.
        put: their new values, by columns in lower case, none where they stay; None where they are deleted.
    """

    met: exp.Expr | None
    put: Mapping[str, exp.Expr] | None


class Changes:
    """Runs statements that change rows.

    Args:
        scratch: the analyst's names.
        answer: gives the rows of a query, for RETURNING.
    """

    def __init__(self, scratch: Scratch, answer: Callable[[exp.Query], Result]) -> None:
        self._scratch, self._answer = scratch, answer

    def insert(self, tree: exp.Insert) -> Done:
        """INSERT, also OR REPLACE, OR IGNORE and ON CONFLICT."""
        only(tree, "this", "expression", "with_", "by_name", "returning", "conflict", "alternative")
        target, query, conflict = tree.this, query_of(tree.expression), tree.args.get("conflict")
        table = target.this if isinstance(target, exp.Schema) else target
        name = self._scratch.target(table)
        if tree.args.get("with_") is not None:
            query.set("with_", tree.args["with_"])
        named = [part.name for part in target.expressions] if isinstance(target, exp.Schema) else None
        rows, returning = self._new(name, named, query, by_name=bool(tree.args.get("by_name"))), tree.args.get("returning")
        if conflict is None and not tree.args.get("alternative"):
            return self._change(name, "", [], rows, returning)
        keys = [lowered(key.this.name) for key in (conflict and conflict.args.get("conflict_keys")) or ()]
        alias, keys = table.alias or name, keys or self._scratch.key(name)
        on = exp.and_(*(exp.EQ(this=reads.named(key, alias), expression=reads.named(key, EXCLUDED)) for key in keys))
        first = exp.select("*").from_(rows.subquery(EXCLUDED)).distinct(*(reads.named(key, EXCLUDED) for key in keys))
        source, put = self._scratch.computed(first).subquery(EXCLUDED), dict[str, exp.Expr]()
        if conflict is not None:
            put = self._set(name, conflict.expressions)
            for column in [column for value in put.values() for column in value.find_all(exp.Column) if not column.table]:
                column.set("table", exp.to_identifier(alias, quoted=True))
        elif tree.args["alternative"] == "REPLACE":
            put = {lowered(c): reads.named(c, EXCLUDED) for c, _ in self._scratch.columns_of(name)}
        where = conflict and conflict.args.get("where")
        changed = self._matched(source, exp.and_(on, where.this) if where else on, put)
        unmatched = _of([source], exp.not_(exp.Exists(this=_of([table], on))), [exp.Star()])
        return self._change(name, table.alias, [changed], unmatched, returning)

    def update(self, tree: exp.Update) -> Done:
        """UPDATE, also FROM other tables."""
        only(tree, "this", "expressions", "where", "from_", "returning")
        name, source = self._scratch.target(tree.this), tree.args.get("from_")
        met, put = tree.args["where"].this if tree.args.get("where") else None, self._set(name, tree.expressions)
        clause = Clause(met, put) if source is None else self._matched(source.this, met, put)
        return self._change(name, tree.this.alias, [clause], None, tree.args.get("returning"))

    def delete(self, tree: exp.Delete | exp.TruncateTable) -> Done:
        """DELETE, also USING other tables, and TRUNCATE."""
        only(tree, "this", "where", "expressions", "using", "returning")
        target, sources = tree.this or tree.expressions[0], tree.args.get("using") or []
        met = tree.args["where"].this if tree.args.get("where") else None
        clause = Clause(exp.Exists(this=_of(sources, met)) if sources else met, None)
        return self._change(self._scratch.target(target), target.alias, [clause], None, tree.args.get("returning"))

    def merge(self, tree: exp.Merge) -> Done:
        """MERGE."""
        only(tree, "this", "using", "on", "using_cond", "whens", "returning")
        name, source, alias = self._scratch.target(tree.this), tree.args["using"], tree.this.alias_or_name
        named = exp.to_identifier(source.alias_or_name, quoted=True)
        shared = [[exp.column(c.copy(), of) for of in (alias, named)] for c in tree.args["using_cond"] or ()]
        on = tree.args["on"] or exp.and_(*(exp.EQ(this=one, expression=other) for one, other in shared))
        every = exp.Column(this=exp.Star(), table=named)
        clauses, added = list[Clause](), list[exp.Query]()
        unseen: exp.Expr = exp.not_(exp.Exists(this=_of([tree.this], on)))
        for when in tree.args["whens"].expressions:
            then, condition = when.args["then"], when.args.get("condition") or exp.true()
            if isinstance(then, exp.Insert):
                listed, columns = then.expression or None, then.this.expressions if then.this else []
                query = _of([source], exp.and_(unseen, condition), listed.expressions if listed else [every])
                by_name = any(isinstance(column, exp.Alias) for column in columns)
                names = None if by_name or not columns else [column.name for column in columns]
                added.append(self._new(name, names, query, by_name=by_name))
                unseen = exp.and_(unseen, exp.not_(exp.func("coalesce", condition.copy(), exp.false())))
                continue
            put: Mapping[str, exp.Expr] | None = None
            if isinstance(then, exp.Update) and then.expressions:
                put = self._set(name, then.expressions)
            elif isinstance(then, exp.Update):  # all columns, in their order
                of_source = self._scratch.describe(self._scratch.resolved(_of([source], None, [every])))[0]
                columns = [lowered(column) for column, _ in self._scratch.columns_of(name)]
                put = {c: reads.named(other, named) for c, (other, _) in zip(columns, of_source, strict=False)}
            elif then.name != "DELETE":
                put = {}
            if when.args["matched"]:
                clauses.append(self._matched(source, exp.and_(on, condition), put))
            else:
                clauses.append(Clause(exp.and_(exp.not_(exp.Exists(this=_of([source], on))), condition), put))
        new, returning = united(added) if added else None, tree.args.get("returning")
        acts = returning is not None and any(lowered(c.name) == ACTION for c in returning.find_all(exp.Column))
        return self._change(name, tree.this.alias, clauses, new, returning, acts=acts)

    # ---------------------------------------------------------------- what all have in common

    def _new(self, name: str, named: Sequence[str] | None, query: exp.Query, *, by_name: bool = False) -> exp.Query:
        """New rows of a table: those of a query, with defaults in the columns that it does not give."""
        columns, given = self._scratch.columns_of(name), self._scratch.describe(self._scratch.resolved(query))[0]
        wanted = [lowered(n) for n in (named or [column for column, _ in (given if by_name else columns)])]
        if not len(given) == len(wanted) == len(set(wanted)) or not set(wanted) <= {lowered(c) for c, _ in columns}:
            raise InputError("INSERT has other columns than the table.", code="bad_sql", hint="Name the columns.")
        places, cells = {column: n for n, column in enumerate(wanted)}, list[exp.Expr]()
        for column, kind in columns:
            n = places.get(lowered(column))
            cell = self._scratch.default(name, column) if n is None else exp.column(f"c{n}", "new")
            same = n is not None and given[n][1] == kind  # an id, which has the type of the ids there, cannot be cast
            cells.append((cell if same else exp.cast(cell, readable(kind), dialect="duckdb")).as_(column, quoted=True))
        alias = exp.TableAlias(
            this=exp.to_identifier("new"), columns=[exp.to_identifier(f"c{n}") for n in range(len(given))]
        )
        return exp.select(*cells).from_(exp.Subquery(this=query, alias=alias))

    def _set(self, name: str, assigned: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
        """What SET puts into columns, in their types."""
        kinds = {lowered(column): kind for column, kind in self._scratch.columns_of(name)}
        put = {lowered(part.this.name): part.expression for part in assigned if isinstance(part, exp.EQ)}
        if len(put) < len(assigned) or not put.keys() <= kinds.keys():
            raise InputError(
                "UPDATE must set columns of the table, each once.", code="bad_sql", hint="Name each column once."
            )
        return {c: exp.cast(value.copy(), readable(kinds[c]), dialect="duckdb") for c, value in put.items()}

    @staticmethod
    def _matched(source: exp.Expr, met: exp.Expr | None, put: Mapping[str, exp.Expr] | None) -> Clause:
        """A clause about the rows that meet a condition with a row of another source: DuckDB takes one of several."""
        new = {c: _of([source], met, [value]).limit(1).subquery() for c, value in (put or {}).items()}
        return Clause(exp.Exists(this=_of([source], met)), None if put is None else new)

    def _change(
        self,
        name: str,
        alias: str,
        clauses: Sequence[Clause],
        added: exp.Query | None,
        returning: exp.Expr | None,
        *,
        acts: bool = False,
    ) -> Done:
        """Give a table other rows: those that clauses change, and new ones; whether RETURNING asks for what was done."""

        def chosen(of: Callable[[Clause], exp.Expr], default: exp.Expr) -> exp.Expr:
            if all(of(clause) == default for clause in clauses):
                return default
            if clauses[0].met is None:
                return of(clauses[0])
            return exp.Case(
                ifs=[exp.If(this=c.met.copy(), true=of(c)) for c in clauses if c.met is not None], default=default
            )

        cells: list[exp.Expr] = []
        for column, _ in self._scratch.columns_of(name):
            cell, key = reads.named(column), lowered(column)
            value = chosen(lambda clause: ((clause.put or {}).get(key) or cell).copy(), cell)  # noqa: B023
            cells.append(value if value is cell else value.as_(column, quoted=True))
        update, delete, insert = map(exp.Literal.string, ("UPDATE", "DELETE", "INSERT"))
        done = chosen(lambda clause: (delete if clause.put is None else update).copy(), update)
        shown = [*cells, done.as_(ACTION)] if acts else cells
        changed = rows_of(name, _where(clauses, lambda clause: clause.put != {}), shown, alias=alias)
        deleted = exp.func("coalesce", _where(clauses, lambda clause: clause.put is None) or exp.true(), exp.false())
        kept = rows_of(name, None if all(c.put is not None for c in clauses) else exp.not_(deleted), cells, alias=alias)
        parts: list[exp.Query] = [changed] if clauses else []
        if added is not None:
            added = added if returning is None else self._scratch.computed(added)
            parts.append(exp.select(exp.Star(), insert.as_(ACTION)).from_(added.copy().subquery("added")) if acts else added)
        number = self._scratch.number(united(parts))
        returned = None
        if returning is not None:
            for star in returning.find_all(exp.Star) if acts else ():
                star.set("except_", [*(star.args.get("except_") or ()), exp.column(ACTION)])
            returned = self._answer(exp.select(*returning.expressions).from_(united(parts).subquery(alias or name)))
        self._scratch.define(name, kept if added is None else united([kept, added]))
        return Done(number, returned=returned)


def query_of(source: exp.Expr) -> exp.Query:
    """The rows of a statement as a query."""
    bare = source.unnest() if isinstance(source, exp.Subquery) else source
    if not isinstance(bare, exp.Query):
        raise unsupported("this source of rows", HINT)
    return bare.copy()


def _where(clauses: Sequence[Clause], holds: Callable[[Clause], bool]) -> exp.Expr | None:
    """The condition on rows that a clause for which something holds changes first; None for all rows."""
    if len(clauses) == 1:
        return clauses[0].met if holds(clauses[0]) else exp.false()
    ifs = [exp.If(this=c.met.copy(), true=exp.convert(holds(c))) for c in clauses if c.met is not None]
    return exp.Case(ifs=ifs, default=exp.false()) if ifs else exp.false()


def _of(sources: Sequence[exp.Expr], where: exp.Expr | None, cells: Sequence[exp.Expr] = ()) -> exp.Select:
    """The rows of sources that meet a condition."""
    rows = exp.select(*([cell.copy() for cell in cells] or [exp.convert(1)])).from_(sources[0].copy())
    rows.set("joins", [exp.Join(this=source.copy()) for source in sources[1:]])
    return rows if where is None else rows.where(where.copy())

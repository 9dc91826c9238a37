"""Statements that change the analyst's own tables, views, macros and variables.

INSERT, UPDATE, DELETE and ALTER give a table a new query over the one that it had, or over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from anondb.engine import readable, reads
from anondb.errors import InputError
from anondb.query.parsing import Statement, is_function, lowered
from anondb.query.refusals import only, unsupported
from anondb.session.parameters import Prepared
from anondb.session.scratch import Scratch, missing

IGNORED = {
    *("application_name", "client_encoding", "client_min_messages", "datestyle", "enable_object_cache"),
    *("enable_progress_bar", "extra_float_digits", "max_memory", "memory_limit", "preserve_insertion_order", "schema"),
    *("search_path", "standard_conforming_strings", "statement_timeout", "threads", "worker_threads"),
}
"""Settings that do not change what a query means, or that a session has its own way to set."""
CONSTRAINTS_NOTE = "Constraints of your own tables are not checked."
FIXED_NOTE = "The settings of a session are fixed when it is opened: SET, RESET and USE change nothing."
_COMPUTED = exp.ComputedColumnConstraint | exp.GeneratedAsIdentityColumnConstraint
HINT = "Write CREATE TABLE name AS SELECT ..., and INSERT, UPDATE and DELETE with plain conditions."


@dataclass(frozen=True)
class Done:
    """What a statement did: the number of rows that it changed, if that is known, and notes."""

    rows: int | None = None
    notes: Sequence[str] = ()

    @property
    def shown(self) -> exp.Select:
        """The number of changed rows as a result with the column ``Count``; without rows if it is not known."""
        number = exp.select(exp.cast(exp.convert(self.rows or 0), "BIGINT").as_("Count"))
        return number if self.rows is not None else number.limit(0)


class Statements:
    """Runs statements that are no queries.

    Args:
        scratch: the analyst's names.
        prepared: the prepared statements.
    """

    def __init__(self, scratch: Scratch, prepared: Prepared) -> None:
        self._scratch, self._prepared = scratch, prepared

    def run(self, statement: Statement) -> Done:
        """Run a statement that is no query.

        Raises:
            InputError: ``unsupported_query``: a session does not take it; ``bad_name``, ``bad_sql``.
        """
        runs: Mapping[str, Callable[[Any], Done]] = {
            "ALTER": self._alter,
            "CREATE": self._create,
            "DELETE": self._delete,
            "DROP": self._drop,
            "INSERT": self._insert,
            "SET": self._set,
            "TRUNCATE": self._delete,
            "UPDATE": self._update,
        }
        if statement.word in runs:
            return runs[statement.word](statement.tree)
        if statement.word in ("PREPARE", "DEALLOCATE"):
            (self._prepared.prepare if statement.word == "PREPARE" else self._prepared.deallocate)(statement.tree.name)
        if statement.word == "ROLLBACK":
            return Done(notes=["A session has no transactions: what was done stays."])
        return Done(notes=[FIXED_NOTE] if statement.word in ("RESET", "USE") else [])

    def _create(self, tree: exp.Create) -> Done:
        target, query = tree.this, tree.expression
        listed = [] if not isinstance(target, exp.Schema) else target.expressions
        if tree.kind == "INDEX":  # changes no result
            return Done()
        only(tree, "this", "kind", "replace", "exists", "expression", "properties")
        _check_properties(tree)
        is_macro = tree.kind in ("MACRO", "FUNCTION")
        if is_macro and (query is None or not isinstance(target, exp.UserDefinedFunction)):
            raise unsupported("this form of a macro", "Write CREATE MACRO name(a, b) AS ...")
        if is_macro:
            taken, what = lowered(target.this.name) in self._scratch.macros, "macro"
        else:
            name = self._scratch.target(target.this if isinstance(target, exp.Schema) else target)
            taken, what = lowered(name) in self._scratch.own, "table"
        if taken and not tree.args.get("replace"):
            if tree.args.get("exists"):
                return Done()
            raise InputError(f"You have a {what} of this name.", code="bad_name", hint="Write CREATE OR REPLACE.")
        if is_macro:
            return self._create_macro(target, query)
        constraints, defaults = list[exp.Expr](), dict[str, exp.Expr]()
        if query is None:
            constraints, defaults = _constraints(listed), _defaults_of(listed)
            query, names = _no_rows(listed), None
        else:
            names = [part.name for part in listed if isinstance(part, exp.Identifier)] or None
            if len(names or []) != len(listed):
                raise unsupported("types of columns beside a query", HINT)
        if tree.kind == "TABLE" and query.find(exp.Collate) is not None:
            raise unsupported("COLLATE in CREATE TABLE", "Write it in the query that reads the table.")
        self._scratch.define(name, _query(query), names, is_view=tree.kind == "VIEW")
        self._scratch.defaults[lowered(name)] = defaults
        return Done(notes=[CONSTRAINTS_NOTE] if constraints else [])

    def _create_macro(self, target: exp.UserDefinedFunction, body: exp.Expr) -> Done:
        parameters = {part.name: _default_of(part) for part in target.expressions}
        if is_function(target.this.name):
            raise InputError("DuckDB has a function of this name.", code="bad_name", hint="Choose another name.")
        self._scratch.set_macro(target.this.name, parameters, body)
        return Done()

    def _insert(self, tree: exp.Insert) -> Done:
        only(tree, "this", "expression", "with_", "by_name")
        target = tree.this
        name = self._scratch.target(target.this if isinstance(target, exp.Schema) else target)
        columns, source = self._scratch.columns_of(name), tree.expression
        if tree.args.get("with_") is not None:
            source.set("with_", tree.args["with_"])
        new_columns = self._scratch.describe(self._scratch.resolved(_query(source)))[0]
        wanted = [lowered(column) for column, _ in (new_columns if tree.args.get("by_name") else columns)]
        if isinstance(target, exp.Schema):
            wanted = [lowered(part.name) for part in target.expressions]
        width, kinds = len(new_columns), {column: kind for column, (_, kind) in zip(wanted, new_columns, strict=False)}
        if not width == len(wanted) == len(set(wanted)) or not set(wanted) <= {lowered(column) for column, _ in columns}:
            raise InputError("INSERT has other columns than the table.", code="bad_sql", hint="Name the columns.")
        names = [exp.to_identifier(f"c{n}") for n in range(width)]
        alias = exp.TableAlias(this=exp.to_identifier("new"), columns=names)
        inserted = {column: exp.column(f"c{n}", "new") for n, column in enumerate(wanted)}
        cells = []
        for column, kind in columns:
            cell: exp.Expr = inserted.get(lowered(column)) or self._default(name, column)
            if kinds.get(lowered(column)) != kind:  # an id, which has the type of the ids there, cannot be cast
                cell = exp.cast(cell, readable(kind), dialect="duckdb")
            cells.append(cell.as_(column, quoted=True))
        rows = exp.select(*cells).from_(exp.Subquery(this=_query(source), alias=alias))
        number = self._scratch.number(_query(source))
        self._scratch.define(name, exp.union(_all_of(name), rows, distinct=False))
        return Done(number)

    def _default(self, name: str, column: str) -> exp.Expr:
        """What a new row has in a column that INSERT does not name."""
        default = self._scratch.defaults.get(lowered(name), {}).get(lowered(column))
        return exp.null() if default is None else default.copy()

    def _update(self, tree: exp.Update) -> Done:
        only(tree, "this", "expressions", "where", "from_")
        name, where, others = self._scratch.target(tree.this), tree.args.get("where"), tree.args.get("from_")
        changed = _changed(where, others)
        columns = self._scratch.columns_of(name)
        put = {lowered(part.this.name): part.expression for part in tree.expressions if isinstance(part, exp.EQ)}
        if len(put) < len(tree.expressions) or not put.keys() <= {lowered(column) for column, _ in columns}:
            raise InputError(
                "UPDATE must set columns of the table, each once.", code="bad_sql", hint="Name each column once."
            )
        cells: list[exp.Expr] = []
        for column, kind in columns:
            cell: exp.Expr = reads.named(column)
            if lowered(column) in put:
                new = put[lowered(column)].copy()
                if others is not None:  # DuckDB takes one of several rows
                    new = (
                        exp.Select(expressions=[new], from_=others.copy(), where=where and where.copy()).limit(1).subquery()
                    )
                value: exp.Expr = exp.cast(new, readable(kind), dialect="duckdb")
                if changed is not None:
                    value = exp.Case(ifs=[exp.If(this=changed.copy(), true=value)], default=cell)
                cell = value.as_(column, quoted=True)
            cells.append(cell)
        number = self._scratch.number(_all_of(name, changed, alias=tree.this.alias))
        self._scratch.define(name, _all_of(name, cells=cells, alias=tree.this.alias))
        return Done(number)

    def _delete(self, tree: exp.Delete | exp.TruncateTable) -> Done:
        only(tree, "this", "where", "expressions", "using")
        target = tree.this or tree.expressions[0]
        name, using = self._scratch.target(target), tree.args.get("using") or []
        self._scratch.columns_of(name)
        deleted = _changed(tree.args.get("where"), exp.From(this=using[0]) if using else None, using[1:])
        number = self._scratch.number(_all_of(name, deleted, alias=target.alias))
        kept = exp.false() if deleted is None else exp.Not(this=exp.func("coalesce", deleted, exp.false()))
        self._scratch.define(name, _all_of(name, kept, alias=target.alias))
        return Done(number)

    def _alter(self, tree: exp.Alter) -> Done:
        only(tree, "this", "kind", "exists", "actions")
        name, actions = self._scratch.target(tree.this), tree.args["actions"]
        action = actions[0] if len(actions) == 1 else None
        defaults = self._scratch.defaults.setdefault(lowered(name), {})
        if isinstance(action, exp.ColumnDef):
            defaults |= _defaults_of([action])
            new = exp.cast(self._default(name, action.name), action.args["kind"]).as_(action.name, quoted=True)
            self._scratch.define(name, _all_of(name).select(new))
            return Done(notes=[CONSTRAINTS_NOTE] if _constraints([action]) else [])
        elif isinstance(action, exp.Drop) and action.kind == "COLUMN":
            left_out = {lowered(column.name) for column in action.args["tables"]}
            kept = [c for c, _ in self._scratch.columns_of(name) if lowered(c) not in left_out]
            if not kept or len(kept) == len(self._scratch.columns_of(name)):
                raise InputError(
                    "The table has no such column, or it has no other one.", code="bad_sql", hint="Name a column."
                )
            self._scratch.define(name, _all_of(name, cells=[reads.named(column) for column in kept]))
        elif isinstance(action, exp.RenameColumn):
            old, new_name = lowered(action.this.name), action.args["to"].name
            defaults |= {lowered(new_name): defaults.pop(old)} if old in defaults else {}
            names = [new_name if lowered(column) == old else column for column, _ in self._scratch.columns_of(name)]
            self._scratch.define(name, _all_of(name), names)
        elif isinstance(action, exp.AlterRename):
            self._scratch.define(self._scratch.target(action.this), _all_of(name))
            self._scratch.drop(name)
            self._scratch.defaults[lowered(action.this.name)] = defaults
        else:
            raise unsupported("this form of ALTER TABLE", "Make the table again: CREATE OR REPLACE TABLE ... AS ...")
        return Done()

    def _drop(self, tree: exp.Drop) -> Done:
        only(tree, "tables", "kind", "exists", "cascade", "restrict")
        for table in tree.args["tables"]:
            if tree.kind in ("MACRO", "FUNCTION"):
                existed = self._scratch.macros.pop(lowered(table.name), None) is not None
            elif tree.kind in ("TABLE", "VIEW"):
                existed = self._scratch.drop(self._scratch.target(table))
            else:
                raise unsupported("this kind of DROP", HINT)
            if not existed and not tree.args.get("exists"):
                raise missing()
        return Done()

    def _set(self, tree: exp.Set) -> Done:
        notes: list[str] = []
        for item in tree.expressions:
            pair = item.this
            if not isinstance(pair, exp.EQ):
                raise unsupported("this form of SET", "Write SET name = value.")
            name = lowered(pair.this.name)
            if item.args.get("kind") == "VARIABLE":
                self._scratch.set_variable(name, pair.expression)
            elif name in IGNORED or (name == "timezone" and pair.expression.name.upper() in ("UTC", "ETC/UTC")):
                notes = [FIXED_NOTE]
            else:
                raise unsupported("SET of this setting", "Pass memory_limit, max_seconds and threads to anondb.open.")
        return Done(notes=notes)


def _default_of(parameter: exp.Expr) -> exp.Expr | None:
    """The default of a macro's parameter; None without one."""
    if isinstance(parameter, exp.Identifier):
        return None
    constraints = parameter.args.get("constraints") or []
    if parameter.args.get("kind") or not all(isinstance(c.kind, exp.DefaultColumnConstraint) for c in constraints):
        raise unsupported("a parameter with a type", "Name the parameters alone, or with a default: b := 2.")
    default: exp.Expr = constraints[0].kind.this
    return default


def _query(source: exp.Expr) -> exp.Query:
    """The rows of a statement as a query."""
    bare = source.unnest() if isinstance(source, exp.Subquery) else source
    if not isinstance(bare, exp.Query):
        raise unsupported("this source of rows", HINT)
    return bare.copy()


def _all_of(
    name: str, where: exp.Expr | None = None, cells: Sequence[exp.Expr] = (), *, alias: str | None = None
) -> exp.Select:
    """The rows of a table for which a condition holds; all of its columns, if none are given."""
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    rows = exp.select(*(cells or [exp.Star()])).from_(exp.alias_(table, alias, quoted=True, table=True) if alias else table)
    return rows if where is None else rows.where(where.copy())


def _changed(where: exp.Where | None, others: exp.From | None, more: Sequence[exp.Expr] = ()) -> exp.Expr | None:
    """The condition on the rows that a statement changes, None for all: beside other tables, that rows of these meet it."""
    if others is None:
        return None if where is None else where.this.copy()
    rows = exp.Select(expressions=[exp.convert(1)], from_=others.copy(), where=where and where.copy())
    rows.set("joins", [exp.Join(this=table.copy()) for table in more])
    return exp.Exists(this=rows)


def _constraints(columns: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The constraints on columns and on a whole table, without defaults and what NULL is."""
    listed = [part for part in columns if not isinstance(part, exp.ColumnDef)]
    kinds = [c.kind for part in columns for c in part.args.get("constraints") or ()]
    return [*listed, *(kind for kind in kinds if not isinstance(kind, exp.DefaultColumnConstraint))]


def _defaults_of(columns: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
    """The defaults of columns, by their names in lower case."""
    kinds = [(part, c.kind) for part in columns for c in part.args.get("constraints") or ()]
    return {lowered(part.name): kind.this for part, kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)}


def _no_rows(columns: Sequence[exp.Expr]) -> exp.Select:
    """The query of a table without rows."""
    cells: list[exp.Expr] = []
    for column in columns:
        if isinstance(column, exp.Identifier) or (isinstance(column, exp.ColumnDef) and column.args.get("kind") is None):
            raise unsupported("a column without a type", "Name the columns with their types.")
        if any(isinstance(c.kind, _COMPUTED) for c in column.args.get("constraints") or ()):
            raise unsupported("a computed column of CREATE TABLE", "Compute it in a view.")
        if isinstance(column, exp.ColumnDef):
            cells.append(exp.cast(exp.null(), column.args["kind"]).as_(column.name, quoted=True))
    if not cells:
        raise unsupported("a table without columns", HINT)
    return exp.select(*cells).limit(0)


def _check_properties(tree: exp.Create) -> None:
    """Refuse properties of CREATE other than TEMPORARY, and that a macro gives a table."""
    properties = tree.args.get("properties")
    for part in properties.expressions if properties is not None else ():
        if not isinstance(part, exp.TemporaryProperty | exp.ReturnsProperty):
            raise unsupported("a property of CREATE", HINT)

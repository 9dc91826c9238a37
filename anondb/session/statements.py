"""Statements that make, change and drop the analyst's own tables, views, macros, types, sequences and variables; those that
change rows are in ``changes``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from anondb.engine import reads
from anondb.errors import InputError
from anondb.query.parsing import Statement, is_function, lowered
from anondb.query.refusals import only, unsupported
from anondb.session.changes import HINT, Changes, Done, query_of
from anondb.session.parameters import Prepared
from anondb.session.result import Result
from anondb.session.scratch import Scratch, missing, rows_of

IGNORED = {
    *("application_name", "client_encoding", "client_min_messages", "datestyle", "enable_object_cache"),
    *("enable_progress_bar", "extra_float_digits", "max_memory", "memory_limit", "preserve_insertion_order", "schema"),
    *("search_path", "standard_conforming_strings", "statement_timeout", "threads", "worker_threads"),
}
"""Settings that do not change what a query means, or that a session has its own way to set."""
OTHERS = {"FUNCTION": "macro", **{kind.upper(): kind for kind in ("macro", "schema", "sequence", "type")}}
"""What has a name and is no table, by the words of CREATE and DROP."""
CONSTRAINTS_NOTE = "Constraints of your own tables are not checked."
FIXED_NOTE = "The settings of a session are fixed when it is opened: SET, RESET and USE change nothing."
_KEYS = (exp.PrimaryKey, exp.PrimaryKeyColumnConstraint, exp.UniqueColumnConstraint)
_COMPUTED = exp.ComputedColumnConstraint | exp.GeneratedAsIdentityColumnConstraint


class Statements:
    """Runs statements that are no queries.

    Args:
        scratch: the analyst's names.
        prepared: the prepared statements.
        answer: gives the rows of a query, for RETURNING and ENUM.
    """

    def __init__(self, scratch: Scratch, prepared: Prepared, answer: Callable[[exp.Query], Result]) -> None:
        self._scratch, self._prepared, self._answer = scratch, prepared, answer
        self._changes = Changes(scratch, answer)

    def run(self, statement: Statement) -> Done:
        """Run a statement that is no query.

        Raises:
            InputError: ``unsupported_query``: a session does not take it; ``bad_name``, ``bad_sql``.
        """
        runs: Mapping[str, Callable[[Any], Done]] = {
            "ALTER": self._alter,
            "CREATE": self._create,
            "DELETE": self._changes.delete,
            "DROP": self._drop,
            "INSERT": self._changes.insert,
            "MERGE": self._changes.merge,
            "SET": self._set,
            "TRUNCATE": self._changes.delete,
            "UPDATE": self._changes.update,
        }
        if statement.word in runs:
            return runs[statement.word](statement.tree)
        if statement.word in ("PREPARE", "DEALLOCATE"):
            (self._prepared.prepare if statement.word == "PREPARE" else self._prepared.deallocate)(statement.tree.name)
        if statement.word == "ROLLBACK":
            return Done(notes=["A session has no transactions: what was done stays."])
        return Done(notes=[FIXED_NOTE] if statement.word in ("RESET", "USE") else [])

    def _create(self, tree: exp.Create) -> Done:
        target, query, kind = tree.this, tree.expression, tree.kind or ""
        listed = [] if not isinstance(target, exp.Schema) else target.expressions
        if kind == "INDEX":  # changes no result
            return Done()
        only(tree, "this", "kind", "replace", "exists", "expression", "properties")
        _check_properties(tree)
        if kind in ("MACRO", "FUNCTION") and (query is None or not isinstance(target, exp.UserDefinedFunction)):
            raise unsupported("this form of a macro", "Write CREATE MACRO name(a, b) AS ...")
        name = self._name_of(target if isinstance(target, exp.Table) else target.this, kind)
        if lowered(name) in self._scratch.named(kind) and not tree.args.get("replace"):
            if tree.args.get("exists"):
                return Done()
            what = OTHERS.get(kind, "table")
            raise InputError(f"You have a {what} of this name.", code="bad_name", hint="Write CREATE OR REPLACE.")
        if kind in OTHERS:
            self._create_other(kind, name, tree)
            return Done()
        constraints, defaults, keys = list[exp.Expr](), dict[str, exp.Expr](), list[list[str]]()
        if query is None:
            constraints, defaults, keys = _constraints(listed), _defaults_of(listed), _keys_of(listed)
            query, names = _no_rows(listed), None
        else:
            names = [part.name for part in listed if isinstance(part, exp.Identifier)] or None
            if len(names or []) != len(listed):
                raise unsupported("types of columns beside a query", HINT)
        if kind == "TABLE" and query.find(exp.Collate) is not None:
            raise unsupported("COLLATE in CREATE TABLE", "Write it in the query that reads the table.")
        self._scratch.define(name, query_of(query), names, is_view=kind == "VIEW")
        self._scratch.defaults[lowered(name)], self._scratch.keys[lowered(name)] = defaults, keys
        return Done(notes=[CONSTRAINTS_NOTE] if constraints else [])

    def _name_of(self, table: exp.Expr, kind: str) -> str:
        """The name of what a statement makes or drops; of a table it is one that the analyst may change."""
        return table.text("db") if kind == "SCHEMA" else table.name if kind in OTHERS else self._scratch.target(table)

    def _create_other(self, kind: str, name: str, tree: exp.Create) -> None:
        """Make what is no table."""
        if kind == "SEQUENCE":
            self._scratch.set_sequence(name, tree.args.get("properties"))
        elif kind == "SCHEMA":
            self._scratch.set_schema(name)
        elif kind == "TYPE":
            self._scratch.types[lowered(name)] = self._type(tree.expression)
        elif is_function(name):
            raise InputError("DuckDB has a function of this name.", code="bad_name", hint="Choose another name.")
        else:
            parameters = {part.name: _default_of(part) for part in tree.this.expressions}
            self._scratch.set_macro(name, parameters, tree.expression)

    def _type(self, query: exp.Expr) -> exp.DataType:
        """The type of the NULL that a query selects, or an ENUM of the values that a query in parentheses has."""
        if not isinstance(query, exp.Subquery):
            kind: exp.DataType = self._scratch.resolved(query).expressions[0].args["to"]
            return kind
        listed = query_of(query)
        if len(self._scratch.describe(self._scratch.resolved(listed))[0]) != 1:
            raise InputError("An ENUM has the values of one column.", code="bad_sql", hint="Select one column.")
        alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("value")])
        texts = exp.select(exp.cast(exp.column("value"), "VARCHAR").as_("value"))
        rows = self._answer(texts.from_(exp.Subquery(this=listed, alias=alias))).fetchall()
        values = dict.fromkeys(row[0] for row in rows if row[0] is not None)
        return exp.DataType(this=exp.DType.ENUM, expressions=[exp.Literal.string(value) for value in values])

    def _alter(self, tree: exp.Alter) -> Done:
        only(tree, "this", "kind", "exists", "actions")
        name, actions = self._scratch.target(tree.this), tree.args["actions"]
        action = actions[0] if len(actions) == 1 else None
        defaults = self._scratch.defaults.setdefault(lowered(name), {})
        if isinstance(action, exp.ColumnDef):
            defaults |= _defaults_of([action])
            new = exp.cast(self._scratch.default(name, action.name), action.args["kind"]).as_(action.name, quoted=True)
            self._scratch.define(name, rows_of(name).select(new))
            return Done(notes=[CONSTRAINTS_NOTE] if _constraints([action]) else [])
        elif isinstance(action, exp.Drop) and action.kind == "COLUMN":
            left_out = {lowered(column.name) for column in action.args["tables"]}
            kept = [c for c, _ in self._scratch.columns_of(name) if lowered(c) not in left_out]
            if not kept or len(kept) == len(self._scratch.columns_of(name)):
                raise InputError(
                    "The table has no such column, or it has no other one.", code="bad_sql", hint="Name a column."
                )
            self._scratch.define(name, rows_of(name, cells=[reads.named(column) for column in kept]))
        elif isinstance(action, exp.RenameColumn):
            old, new_name = lowered(action.this.name), action.args["to"].name
            defaults |= {lowered(new_name): defaults.pop(old)} if old in defaults else {}
            names = [new_name if lowered(column) == old else column for column, _ in self._scratch.columns_of(name)]
            self._scratch.define(name, rows_of(name), names)
        elif isinstance(action, exp.AlterRename):
            self._scratch.define(self._scratch.target(action.this), rows_of(name))
            self._scratch.drop(name)
            self._scratch.defaults[lowered(action.this.name)] = defaults
        else:
            raise unsupported("this form of ALTER TABLE", "Make the table again: CREATE OR REPLACE TABLE ... AS ...")
        return Done()

    def _drop(self, tree: exp.Drop) -> Done:
        only(tree, "tables", "kind", "exists", "cascade", "restrict")
        for table in tree.args["tables"]:
            name = self._name_of(table, tree.kind or "")
            if tree.kind in OTHERS:
                if tree.kind == "SCHEMA":
                    self._scratch.empty_schema(name, cascade=bool(tree.args.get("cascade")))
                existed = self._scratch.named(tree.kind).pop(lowered(name), self) is not self
            elif tree.kind in ("TABLE", "VIEW"):
                existed = self._scratch.drop(name)
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


def _constraints(columns: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The constraints on columns and on a whole table, without defaults and what NULL is."""
    listed = [part for part in columns if not isinstance(part, exp.ColumnDef)]
    kinds = [c.kind for part in columns for c in part.args.get("constraints") or ()]
    return [*listed, *(kind for kind in kinds if not isinstance(kind, exp.DefaultColumnConstraint))]


def _defaults_of(columns: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
    """The defaults of columns, by their names in lower case."""
    kinds = [(part, c.kind) for part in columns for c in part.args.get("constraints") or ()]
    return {lowered(part.name): kind.this for part, kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)}


def _keys_of(columns: Sequence[exp.Expr]) -> list[list[str]]:
    """The columns of each PRIMARY KEY and UNIQUE, of a column or of a whole table, in lower case."""
    keys = [key for part in columns for key in part.find_all(*_KEYS)]
    return [
        [lowered(name.name) for name in (*key.find_all(exp.Identifier), key.find_ancestor(exp.ColumnDef)) if name]
        for key in keys
    ]


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
    """Refuse properties of CREATE other than TEMPORARY, that a macro gives a table, and those of sequences."""
    properties = tree.args.get("properties")
    for part in properties.expressions if properties is not None else ():
        if not isinstance(part, exp.TemporaryProperty | exp.ReturnsProperty | exp.SequenceProperties):
            raise unsupported("a property of CREATE", HINT)

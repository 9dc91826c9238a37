"""The analyst's own tables, views, macros, types, sequences, schemas and variables: each is a name for rows, a query, an
expression, a type or a value.

A table whose query reads no table of the original is computed and stored. One that does stays a query, so that bounds and
possible worlds see through it: each query that names it gets it as a common table expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlglot import exp

from anondb.answers.ranged.equivalents import common_table
from anondb.errors import InputError
from anondb.query.parsing import check_depth, lowered
from anondb.query.refusals import too_complex, unsupported
from anondb.session.database import HIDDEN, SessionDatabase, sequence_of
from anondb.session.output import unique
from anondb.session.parameters import literal_of

Columns = Sequence[tuple[str, str]]
"""The names and types of columns."""
MAX_NODES = 50_000  # of the tree of a query with the queries of the tables that it names
MAX_CALLS = 1_000  # of macros in a query
OWN_SCHEMAS = ("", "main", "temp", "memory")
SYSTEM = (*OWN_SCHEMAS, "information_schema", "pg_catalog", "modelled", "own")
Tree = TypeVar("Tree", bound=exp.Expr)


@dataclass(frozen=True)
class Named:
    """A table or a view that stands for a query.

    Attributes:
        name: its name.
        query: the query; of a view, before the names in it are resolved, which happens whenever it is used.
        columns: its columns.
        renamed: whether the columns have other names than those of the query.
        is_view: whether it is a view.
    """

    name: str
    query: exp.Query
    columns: Columns
    renamed: bool
    is_view: bool


@dataclass(frozen=True)
class Macro:
    """A macro: its parameters, each with its default, if any, and its expression or, of a table macro, its query."""

    parameters: Mapping[str, exp.Expr | None]
    body: exp.Expr


class Scratch:
    """The analyst's names of a session.

    Args:
        database: where rows are stored.
        describe: gives the columns of a query, and whether it reads tables of the original; raises InputError where it may
            not run.
        summarized: gives a query without names whose SUMMARIZE computes nothing from ids.
        reserved: the names of tables that are not the analyst's.

    Attributes:
        macros, types, sequences, schemas: what has a name beside tables, by this name in lower case.
        defaults: what new rows have in columns of the analyst's tables, by the names of both in lower case.
        keys: the columns of each PRIMARY KEY and UNIQUE of these tables.
    """

    def __init__(
        self,
        database: SessionDatabase,
        describe: Callable[[exp.Expr], tuple[Columns, bool]],
        summarized: Callable[[exp.Expr], exp.Expr],
        reserved: Sequence[str],
    ) -> None:
        self._database, self.describe, self._summarized = database, describe, summarized
        self._reserved = {lowered(name) for name in reserved}
        self._named: dict[str, Named] = {}
        self.macros: dict[str, Macro] = {}
        self.types: dict[str, exp.DataType] = {}
        self.sequences: dict[str, exp.Literal] = {}
        self.schemas: dict[str, None] = {}
        self.defaults: dict[str, dict[str, exp.Expr]] = {}
        self.keys: dict[str, list[list[str]]] = {}
        self._variables: dict[str, exp.Expr] = {}
        self._kept: list[str] = []

    @property
    def tables(self) -> dict[str, dict[str, str]]:
        """The tables and views that stand for queries, with the types of their columns."""
        return {named.name: dict(named.columns) for named in self._named.values()}

    def remove(self, name: str) -> None:
        """Forget a table or a view; nothing happens if there is none."""
        for of_tables in (self._named, self.defaults, self.keys):
            of_tables.pop(lowered(name), None)

    # ---------------------------------------------------------------- names in queries

    def resolved(self, tree: Tree) -> Tree:
        """A query without the names of variables and macros, and with those of tables as common table expressions.

        Raises:
            InputError: ``query_too_complex``: the query with all that it names is too large.
        """
        if not (self._named or self.macros or self._variables or self.types or self.sequences or tree.find(exp.Summarize)):
            return tree
        expanded = self._with_tables(self._with_macros(tree.copy()), ())
        if expanded.find(exp.Summarize) is not None:
            expanded = self._summarized(expanded)
        check_depth(expanded)
        if sum(1 for _ in expanded.walk()) > MAX_NODES:
            raise too_complex("the queries of the tables that it names are too long")
        return expanded  # type: ignore[return-value]

    def _with_macros(self, tree: exp.Expr) -> exp.Expr:
        """A query with what its macros, types, sequences and variables stand for; its columns keep their names."""
        for kind in list(tree.find_all(exp.DataType)):
            if (own := self.types.get(lowered(kind.text("kind")))) is not None:
                kind.replace(own.copy())
        for select in tree.find_all(exp.Select):
            for selected in select.expressions:
                if not isinstance(selected, exp.Alias) and any(map(self._is_own, selected.find_all(exp.Anonymous))):
                    selected.replace(
                        exp.alias_(selected.copy(), selected.sql("duckdb", normalize_functions=False), quoted=True)
                    )
        grown, aliases = 0, set[str]()
        for _ in range(MAX_CALLS):
            call = next(filter(self._is_own, tree.find_all(exp.Anonymous)), None)
            if call is None:
                return tree
            expansion = self._expanded(call)
            grown += sum(1 for _ in expansion.walk())
            if grown > MAX_NODES:
                break
            place: exp.Expr = call
            if isinstance(call.parent, exp.Table):
                place = call.parent
                name = (
                    call.name if lowered(call.name) not in aliases else f"{call.name}_{grown}"
                )  # of several, none is named
                aliases.add(lowered(name))
                alias = place.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
                expansion = exp.Subquery(this=expansion, alias=alias)
            if place is tree:
                tree = expansion
            else:
                place.replace(expansion)
        raise too_complex("its macros are nested too deeply or are too long")

    def _is_own(self, call: exp.Anonymous) -> bool:
        name = lowered(call.name)
        of_sequence = sequence_of(call) in self.sequences
        return name in self.macros or of_sequence or (name == "getvariable" and len(call.expressions) == 1)

    def _expanded(self, call: exp.Anonymous) -> exp.Expr:
        """What a call of a macro, a variable or a sequence stands for."""
        macro = self.macros.get(lowered(call.name))
        if macro is None and (sequence := self.sequences.get(sequence_of(call))) is not None:
            return exp.Anonymous(this=call.name, expressions=[sequence.copy()])
        if macro is None:
            value = self._variables.get(lowered(call.expressions[0].name))
            return exp.null() if value is None else value.copy()
        named = {lowered(e.this.name): e.expression for e in call.expressions if isinstance(e, exp.PropertyEQ)}
        placed = [e for e in call.expressions if not isinstance(e, exp.PropertyEQ)]
        given = dict(zip(macro.parameters, placed, strict=False)) | named
        filled = {name: given.get(name, default) for name, default in macro.parameters.items()}
        arguments = {name: value for name, value in filled.items() if value is not None}
        if len(given) < len(call.expressions) or not given.keys() <= filled.keys() or len(arguments) < len(filled):
            raise InputError(
                "The call of a macro has the wrong number of arguments.", code="bad_sql", hint="Pass all of them."
            )
        body = macro.body.copy()
        for column in list(body.find_all(exp.Column)):
            if not column.table and lowered(column.name) in arguments:
                value = exp.paren(arguments[lowered(column.name)].copy())
                if column is body:
                    return value
                column.replace(value)
        return body if isinstance(body, exp.Query) else exp.paren(body)

    def _with_tables(self, tree: exp.Expr, within: tuple[str, ...]) -> exp.Expr:
        """A query with the tables that it names as common table expressions."""
        named = {name: self._named[name] for name in _tables_of(tree) if name in self._named and name not in within}
        if not named:
            return tree
        clause = tree.args.get("with_")
        if not isinstance(tree, exp.Query) or {lowered(cte.alias) for cte in clause or ()} & named.keys():
            tree, clause = exp.select("*").from_(exp.alias_(exp.Subquery(this=tree), "q", table=True, copy=False)), None
        assert isinstance(tree, exp.Query)
        listed = list(clause.expressions) if clause is not None else []
        ctes = [self._cte(table, (*within, name)) for name, table in named.items()]
        recursive = clause is not None and clause.recursive
        tree.set("with_", exp.With(expressions=[*ctes, *listed], recursive=recursive))
        return tree

    def _cte(self, named: Named, within: tuple[str, ...]) -> exp.CTE:
        query = named.query.copy()
        if named.is_view:
            query = self._with_tables(self._with_macros(query), within)  # type: ignore[assignment]
        alias = exp.TableAlias(this=exp.to_identifier(named.name, quoted=True))
        if named.renamed:
            alias.set("columns", [exp.to_identifier(name, quoted=True) for name, _ in named.columns])
        return exp.CTE(this=query, alias=alias)

    # ---------------------------------------------------------------- macros and variables

    def set_macro(self, name: str, parameters: Mapping[str, exp.Expr | None], body: exp.Expr) -> None:
        """Make a macro."""
        named = {lowered(parameter): default for parameter, default in parameters.items()}
        self.macros[lowered(name)] = Macro(named, self._with_macros(body.copy()))

    def set_variable(self, name: str, value: exp.Expr) -> None:
        """Give a variable a value: a constant, or its query with the tables of now, where it reads the original's."""
        if isinstance(value, exp.Literal | exp.Boolean | exp.Null):
            self._variables[lowered(name)] = value.copy()
            return
        tree = self.resolved(exp.select(exp.paren(value.copy()).as_("v")))
        ((_, kind),), reads = self.describe(tree)
        constant = None if reads else _constant(self._database.value(tree), kind)
        query = exp.paren(exp.Subquery(this=self._database.frozen(tree)))
        self._variables[lowered(name)] = query if constant is None else constant

    def set_sequence(self, name: str, properties: exp.Properties | None) -> None:
        """Make a sequence."""
        self.sequences[lowered(name)] = exp.Literal.string(self._database.sequence(name, properties))

    # ---------------------------------------------------------------- tables

    def flat(self, tree: Tree) -> Tree:
        """A query in which tables in schemas of the analyst have one name, with the dot."""
        for table in tree.find_all(exp.Table):
            if table.name and lowered(table.db) in self.schemas:
                if isinstance(table.parent, exp.From | exp.Join) and not table.alias:
                    table.set("alias", exp.TableAlias(this=table.this))
                table.set("this", exp.to_identifier(f"{lowered(table.db)}.{table.name}", quoted=True))
                table.set("db", None)
                table.set("catalog", None)
        for column in tree.find_all(exp.Column):
            if column.db and lowered(column.db) in self.schemas:
                column.set("db", None)
                column.set("catalog", None)
        return tree

    def named(self, kind: str) -> dict[str, Any]:
        """What has a name, by the kind that CREATE and DROP say."""
        others: dict[str, dict[str, Any]] = {"TYPE": self.types, "SEQUENCE": self.sequences, "SCHEMA": self.schemas}
        return self.macros if kind in ("MACRO", "FUNCTION") else others.get(kind, self.own)

    def set_schema(self, name: str) -> None:
        """Make a schema, in which names of tables begin with its own."""
        if lowered(name) in SYSTEM or any(taken.startswith(f"{lowered(name)}.") for taken in self._reserved):
            raise InputError("There is a schema of this name.", code="bad_name", hint="Choose another name.")
        self.schemas[lowered(name)] = None

    def empty_schema(self, name: str, *, cascade: bool) -> None:
        """Forget the tables of a schema."""
        inside = [table for table in self.own if table.startswith(f"{lowered(name)}.") and lowered(name) in self.schemas]
        if inside and not cascade:
            raise InputError("The schema has tables.", code="bad_name", hint="Write DROP SCHEMA name CASCADE.")
        for table in inside:
            self.drop(table)

    @property
    def own(self) -> dict[str, Columns]:
        """The columns of the analyst's tables and views, by their names in lower case."""
        stored = {lowered(name): tuple(columns.items()) for name, columns in self._database.shapes}
        own = {**stored, **{name: named.columns for name, named in self._named.items()}}
        return {n: columns for n, columns in own.items() if n not in self._reserved and not n.startswith(HIDDEN)}

    def target(self, table: exp.Expr) -> str:
        """The name of a table of the analyst that a statement changes."""
        if not isinstance(table, exp.Table) or lowered(table.db) not in OWN_SCHEMAS or table.catalog:
            raise unsupported("a table in another schema", "Name the table alone.")
        if lowered(table.name) in self._reserved:
            raise unsupported("writing to the original's tables", "Copy what you need: CREATE TABLE mine AS SELECT ...")
        return table.name

    def columns_of(self, name: str) -> Columns:
        """The columns of a table that a statement changes."""
        named = self._named.get(lowered(name))
        if lowered(name) not in self.own:
            raise missing()
        if named is not None and named.is_view:
            raise unsupported("changing a view", "Change the tables that it reads.")
        return self.own[lowered(name)]

    def define(self, name: str, query: exp.Query, names: Sequence[str] | None = None, *, is_view: bool = False) -> None:
        """Give a name a query, or the rows of one that reads no table of the original."""
        tree = self.resolved(query)
        columns, reads = self.describe(tree)
        if names is not None and len(names) != len(columns):
            raise InputError(
                "The number of columns differs from that of the table.", code="bad_sql", hint="Name each column once."
            )
        own, types = (list(parts) for parts in zip(*columns, strict=True))
        shown = unique(own if names is None else names)
        if not (is_view or reads):
            self._database.compute(name, _named_so(tree, shown))
            self._named.pop(lowered(name), None)
            while self._kept:
                self._database.remove(self._kept.pop())
            return
        self._kept.clear()  # the query reads them
        late = is_view and lowered(name) not in _tables_of(query)
        if not late:
            tree = self._database.frozen(tree)
        self._database.remove(name)
        listed = list(zip(shown, types, strict=True))
        self._named[lowered(name)] = Named(name, query if late else tree, listed, shown != own, late)

    def drop(self, name: str) -> bool:
        """Forget a table or a view; whether there was one."""
        if lowered(name) not in self.own:
            return False
        self.remove(name)
        self._database.remove(name)
        return True

    def default(self, name: str, column: str) -> exp.Expr:
        """What a new row has in a column that INSERT does not name."""
        return self.defaults.get(lowered(name), {}).get(lowered(column), exp.null()).copy()

    def key(self, name: str) -> list[str]:
        """The columns of the only key of a table."""
        keys = self.keys.get(lowered(name)) or []
        if len(keys) != 1:
            hint = "Write ON CONFLICT (column), or give the table one PRIMARY KEY."
            raise InputError("The table has no key, or several.", code="bad_sql", hint=hint)
        return keys[0]

    def computed(self, query: exp.Query) -> exp.Query:
        """A query with the same rows until a table is made: where it reads no table of the original, they are stored."""
        tree = self.resolved(query)
        if self.describe(tree)[1]:
            return query
        self._kept.append(self._database.kept(tree))
        return rows_of(self._kept[-1])

    def number(self, query: exp.Query) -> int | None:
        """The number of rows of a query; None if it reads tables of the original."""
        tree = self.resolved(query)
        return None if self.describe(tree)[1] else self._database.number(tree)


def missing() -> InputError:
    """The error for a name that the analyst gave nothing."""
    return InputError("You have no table of this name.", code="bad_name", hint="CREATE TABLE makes one.")


def rows_of(name: str, where: exp.Expr | None = None, cells: Sequence[exp.Expr] = (), *, alias: str = "") -> exp.Select:
    """The rows of a table for which a condition holds; all of its columns, if none are given."""
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    rows = exp.select(*(cells or [exp.Star()])).from_(exp.alias_(table, alias, quoted=True, table=True) if alias else table)
    return rows if where is None else rows.where(where.copy())


def _tables_of(tree: exp.Expr) -> Iterator[str]:
    """The plain names of tables that a query does not define itself, each once, in lower case."""
    tables = (table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier) and not table.db)
    return iter(dict.fromkeys(lowered(table.name) for table in tables if common_table(table) is None))


def _constant(value: Any, kind: str) -> exp.Expr | None:
    """A value as an expression of a type; None if the type has no literals."""
    try:
        literal = literal_of(value)
    except InputError:
        return None
    return literal if kind in ("VARCHAR", "INTEGER", "BIGINT", "BOOLEAN") else exp.cast(literal, kind, dialect="duckdb")


def _named_so(tree: exp.Query, names: Sequence[str]) -> exp.Query:
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=[exp.to_identifier(name, quoted=True) for name in names])
    return exp.select("*").from_(exp.Subquery(this=tree, alias=alias))

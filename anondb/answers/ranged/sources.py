"""What a SELECT over known rows reads and groups: the sources of FROM, the expressions of GROUP BY, and rows of single
persons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.answers.persons.counts import Counts
from anondb.answers.ranged.aggregates import aggregates, has_aggregate
from anondb.answers.ranged.clauses import aliased, places_of, selected
from anondb.answers.ranged.compiler import Compiler, Env, with_ctes
from anondb.answers.ranged.relation import Column, Ranged, described, fresh, projected
from anondb.answers.ranged.values import Value
from anondb.query.parsing import bare, lowered, whole
from anondb.query.refusals import name_of, only, unsupported


def source_rows(compiler: Compiler, node: exp.Expr, env: Env) -> tuple[Ranged, str]:
    """The known rows of a source in FROM, and its alias, which is another one for each source without a name."""
    alias = node.args.get("alias")
    name = alias.name if alias is not None else node.name
    relation: Ranged | None
    if isinstance(node, exp.Subquery):
        only(node, "this", "alias")
        relation = compiler.query(node.this, env)
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        only(node, "this", "alias", "db", "catalog")
        cte = env.get(lowered(node.name)) if not node.db else None
        if cte is not None:
            relation = _renamed(compiler.query(cte.node.this, cte.env), cte.node.args["alias"])
        else:
            relation = compiler.tables.table(node)
    elif isinstance(node, exp.Values):
        relation = _values(node, compiler)
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.GenerateSeries):
        relation, name = _series(node), name or _series_name(node.this)
    else:
        raise unsupported(name_of(node))
    if relation is None:
        raise unsupported(
            f"the table {node.sql('duckdb')!r}", "Register your own tables first: session.register(name, data)."
        )
    relation = relation if alias is None or isinstance(node, exp.Values) else _renamed(relation, alias)
    return relation, name or fresh("unnamed")


def _renamed(relation: Ranged, alias: exp.Expr) -> Ranged:
    names = [c.name for c in alias.args.get("columns") or ()]
    renamed = [replace(c, name=n) for c, n in zip(relation.columns, names, strict=False)]
    return replace(relation, columns=(*renamed, *relation.columns[len(renamed) :]))


def _values(node: exp.Values, compiler: Compiler) -> Ranged:
    """Rows that are written in the query."""
    if node.find(exp.Column, exp.Query):
        raise unsupported("VALUES with expressions other than literals")
    columns = [c.name for c in node.args["alias"].args.get("columns") or ()] if node.args.get("alias") else []
    width = len(node.expressions[0].expressions)
    names = [*columns, *(f"col{n}" for n in range(len(columns), width))]
    made = exp.Values(
        expressions=[e.copy() for e in node.expressions],
        alias=exp.TableAlias(this=exp.to_identifier("v"), columns=[exp.to_identifier(f"c{n}") for n in range(width)]),
    )
    listed = [Value(exp.column(f"c{n}", "v")) for n in range(width)]
    if compiler.tables.typed:
        cells = [[bare(row.expressions[n]) for row in node.expressions] for n in range(width)]
        written = [all(isinstance(c, exp.Literal) for c in column) for column in cells]
        plain = [
            w and compiler.tables.plain(frozenset(c.name for c in column)) for w, column in zip(written, cells, strict=True)
        ]
        listed = [replace(value, plain=p) for value, p in zip(listed, plain, strict=True)]
    return Ranged(exp.select(*projected(listed)).from_(made), described(names, listed))


def _series(node: exp.Table) -> Ranged:
    """The rows of generate_series or range, of constants."""
    only(node, "this", "alias")
    if node.this.find(exp.Column, exp.Query, exp.Anonymous):
        raise unsupported(f"{_series_name(node.this)} with arguments that are not constants")
    rows = exp.Table(
        this=node.this.copy(),
        alias=exp.TableAlias(this=exp.to_identifier("v"), columns=[exp.to_identifier("c0")]),
    )
    return Ranged(exp.select("c0").from_(rows), (Column(_series_name(node.this)),))


def _series_name(node: exp.GenerateSeries) -> str:
    return "range" if node.args.get("is_end_exclusive") else "generate_series"


def first_column(relation: Ranged) -> exp.Query:
    """The SELECT of a relation with a single exact column."""
    return exp.select("c0").from_(
        exp.Subquery(this=relation.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier("one")))
    )


def grouped(node: exp.Select, is_column: Callable[[exp.Column], bool]) -> list[exp.Expr]:
    """The grouped expressions of a SELECT: positions, aliases and ALL are replaced by what they stand for.

    Args:
        node: the SELECT.
        is_column: whether a name is a column of the FROM clause, which takes precedence over an alias.

    Raises:
        InputError: ``unsupported_query``.
    """
    group = node.args["group"]
    only(group, "expressions", "all")
    if group.args.get("all"):
        shown = [e.unalias() for e in node.expressions]
        return [e for e in shown if not any(True for _ in aggregates(e)) and not _has_window(e)]
    aliases = aliased(node)
    return [grouped_by(bare(key), node, aliases, is_column) for key in group.expressions]


def grouped_by(
    key: exp.Expr, node: exp.Select, aliases: Mapping[str, exp.Expr], is_column: Callable[[exp.Column], bool]
) -> exp.Expr:
    """What a key of a SELECT, which gives these names, stands for: see ``grouped``."""
    if isinstance(key, exp.Literal) and not key.is_string:
        if not 1 <= whole(key) <= len(node.expressions):
            raise unsupported("GROUP BY a position that does not exist")
        return bare(selected(key, node))
    if not isinstance(key, exp.Column) or key.table or lowered(key.name) not in aliases or is_column(key):
        return key
    return bare(aliases[lowered(key.name)])


def _has_window(node: exp.Expr) -> bool:
    """Whether a selected expression has a window function, which is of groups."""
    return any(window.parent_select is node.parent_select for window in node.find_all(exp.Window))


def check_one(compiler: Compiler, tree: exp.Select, source: exp.Expr, on: exp.Expr | None) -> None:
    """Refuse a source of which several rows match a row of a SELECT, since some of them may be missing.

    Raises:
        InputError: ``unsupported_query``.
    """
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    equal = exp.select("1").from_(source.copy()).group_by(exp.column(source.alias)).having(several)
    before = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]
    matched = exp.Select(expressions=[exp.Literal.number(1)], joins=[j.copy() for j in tree.args.get("joins") or ()])
    matched = matched.from_(before[0].copy()).group_by(*(exp.column(one.alias) for one in before))
    matched.append("joins", exp.Join(this=source.copy(), on=on and on.copy()))
    different = exp.Count(this=exp.Distinct(expressions=[exp.column(source.alias)]))
    matched = matched.having(exp.GT(this=different, expression=exp.Literal.number(1)))
    if any(compiler.tables.rows(query.limit(1)) for query in (equal, matched)):
        raise unsupported("LEFT JOIN of several rows that an estimate chose", "Join on the columns of its GROUP BY.")


@dataclass
class RowsOfPersons:
    """Tells which tables and queries have the rows of single persons."""

    counts: Counts

    def of_persons(self, node: exp.Expr, env: Env, *, once: bool = False) -> bool:
        """Whether the rows of a query belong to single persons, so that they cannot be shown.

        Args:
            node: the query.
            env: the common table expressions that it sees.
            once: whether equal rows are one, as in a set operation around it: then only rows with ids are of persons.
        """
        env = with_ctes(node, env, self.of_persons)
        if isinstance(node, exp.Subquery | exp.SetOperation):
            once = once or bool(isinstance(node, exp.SetOperation) and node.args.get("distinct"))
            return self.of_persons(node.this, env, once=once)
        if not isinstance(node, exp.Select) or not any(self.is_source(p.this, env) for p in places_of(node)):
            return False
        ids = self._ids(node, env)
        if node.args.get("group") is not None:
            return any(_named(key, ids) for key in grouped(node, lambda column: _named(column, ids)))
        if any(has_aggregate(p, self.counts.is_aggregate) for p in (*node.expressions, node.args.get("having"))):
            return False
        selected = [e.unalias() for e in node.expressions]
        return (node.args.get("distinct") is None and not once) or any(
            isinstance(e, exp.Star) or _named(e, ids) for e in selected
        )

    def is_source(self, node: exp.Expr, env: Env) -> bool:
        """Whether a table or subquery in a FROM clause has the rows of single persons."""
        if isinstance(node, exp.Subquery):
            return self.of_persons(node.this, env)
        if not isinstance(node, exp.Table):
            return False
        cte = env.get(lowered(node.name)) if not node.db else None
        return cte.of_persons if cte is not None else self.counts.id_column(node) is not None

    def tables_of(self, node: exp.Expr, env: Env) -> Iterator[exp.Table]:
        """The tables of persons that a query reads, also by the names of common table expressions."""
        for table in node.find_all(exp.Table):
            cte = env.get(lowered(table.name)) if not table.db else None
            if cte is not None:
                yield from self.tables_of(cte.node.this, cte.env)
            elif self.counts.id_column(table) is not None:
                yield table

    def _ids(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of the sources of a SELECT."""
        return frozenset[str]().union(*(self.ids_of(place.this, env) for place in places_of(node)))

    def ids_of(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of a source."""
        if isinstance(node, exp.Table):
            cte = env.get(lowered(node.name)) if not node.db else None
            if cte is not None:
                return self.ids_of(exp.Subquery(this=cte.node.this, alias=cte.node.args["alias"]), cte.env)
            column = self.counts.id_column(node)
            return frozenset() if column is None else frozenset({column})
        inner: exp.Expr = node.this if isinstance(node, exp.Subquery) else node
        while isinstance(inner, exp.SetOperation | exp.Subquery):
            inner = inner.this
        if not isinstance(inner, exp.Select):
            return frozenset()
        ids, names = self._ids(inner, env), set[str]()
        renamed = [lowered(c.name) for c in (node.args["alias"].args.get("columns") or ())] if node.args.get("alias") else []
        for n, e in enumerate(inner.expressions):
            if isinstance(e, exp.Star):
                names |= ids
            elif _named(e.unalias(), ids):
                names.add(renamed[n] if n < len(renamed) else lowered(e.alias_or_name))
        return frozenset(names)


def _named(node: exp.Expr, names: frozenset[str]) -> bool:
    """Whether an expression is one of some columns, or the first of these that is not NULL, as of a FULL JOIN."""
    if isinstance(node, exp.Coalesce):
        return all(_named(one, names) for one in (node.this, *node.expressions))
    return isinstance(node, exp.Column) and lowered(node.name) in names

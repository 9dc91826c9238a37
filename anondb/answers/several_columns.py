"""What stands for several columns, written out: PIVOT as GROUP BY with a FILTER for each column, UNPIVOT as UNION ALL, and
COLUMNS(...), ``* LIKE 'x%'``, ``* EXCLUDE``, REPLACE and RENAME and stars beside GROUP BY as an expression for each column;
and a row that is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from anondb.answers.ranged.clauses import copy_clauses
from anondb.answers.role_reader import FIELDS
from anondb.engine import reads
from anondb.engine.trees import united
from anondb.query.parsing import lowered
from anondb.query.refusals import too_complex, unsupported

MAX_COLUMNS = 200
_LIKE = exp.Like | exp.ILike | exp.SimilarTo | exp.Glob


@dataclass(frozen=True)
class Source:
    """What PIVOT and UNPIVOT need of the rows that they turn.

    Attributes:
        columns_of: gives the names of the columns of a query over the tables that this one sees; none if DuckDB does not
            accept it.
        values_of: gives the values of the only column of such a query as constants, NULL left out.
        around: the common table expressions that it sees.
    """

    columns_of: Callable[[exp.Query], Sequence[str]]
    values_of: Callable[[exp.Query], Sequence[exp.Expr]]
    around: Sequence[exp.CTE] = ()

    def columns(self, query: exp.Select) -> Sequence[str]:
        """The names of the columns of a query; none if DuckDB does not accept it."""
        return self.columns_of(self._seeing(query))

    def values(self, query: exp.Select) -> Sequence[exp.Expr]:
        """The values of the only column of a query that are not NULL, each once."""
        return list(dict.fromkeys(self.values_of(self._seeing(query))))

    def _seeing(self, query: exp.Select) -> exp.Select:
        """A query with the common table expressions that it sees."""
        if not self.around:
            return query
        named = {lowered(cte.alias): cte for cte in (*self.around, *(query.args.get("with_") or ()))}
        whole = query.copy()
        recursive = any(cte.parent.args.get("recursive") for cte in named.values() if cte.parent is not None)
        whole.set("with_", exp.With(expressions=[cte.copy() for cte in named.values()], recursive=recursive))
        return whole

    def others(self, rows: exp.Select, used: set[str]) -> list[exp.Expr]:
        """The columns of rows except those in ``used``, which are in lower case."""
        return [reads.named(n) for n in self.columns(rows) if lowered(n) not in used]


def written_out(tree: exp.Expr, source: Source) -> exp.Expr:
    """A query without PIVOT and UNPIVOT, and without COLUMNS in what it selects.

    Raises:
        InputError: ``unsupported_query`` or ``query_too_complex``: too many columns.
    """
    while (pivot := tree.find(exp.Pivot)) is not None:
        place: exp.Expr = pivot
        seen = replace(source, around=_seen(pivot))
        rows, on, using = pivot.this, pivot.expressions, pivot.args.get("using") or []
        if isinstance(pivot.parent, exp.Table | exp.Subquery) and pivot.arg_key == "pivots":
            place = pivot.parent
            rows, on, using = _without_pivots(place), pivot.args.get("fields") or [], pivot.expressions
        selected = exp.select("*").from_(rows.copy())
        parts = [part.copy() for part in on]
        replacement: exp.Expr = (
            _unpivoted(pivot, selected, parts, using, seen)
            if pivot.args.get("unpivot")
            else _pivoted(pivot.args.get("group"), selected, parts, using, seen)
        )
        if place is not pivot:
            alias = pivot.args.get("alias") or place.args.get("alias") or exp.TableAlias(this=exp.to_identifier("pivoted"))
            replacement = exp.Subquery(this=replacement, alias=alias.copy())
        place.replace(replacement)
    for select in list(tree.find_all(exp.Select)):
        _write_stars(select, replace(source, around=_seen(select)))
        _write_columns(select, replace(source, around=_seen(select)))
        _name_fields(select, replace(source, around=_seen(select)))
        _count_rows(select, replace(source, around=_seen(select)))
    return tree


def _seen(node: exp.Expr) -> list[exp.CTE]:
    """The common table expressions that a part of a query sees, the outermost ones first."""
    ctes: list[exp.CTE] = []
    inner, outer = node, node.parent
    while outer is not None:
        clause = outer if isinstance(outer, exp.With) else outer.args.get("with_")
        listed = list(clause.expressions) if clause is not None and clause is not inner else []
        before = next((n for n, cte in enumerate(listed) if cte is inner), len(listed))
        ctes[:0] = listed[:before]
        inner, outer = outer, outer.parent
    return ctes


def _write_stars(select: exp.Select, source: Source) -> None:
    """Write a star that leaves out, replaces or renames columns, or is beside GROUP BY, as those that it gives."""
    grouped = select.args.get("group") is not None
    select.set("expressions", [e for star in select.expressions for e in _starred(select, star, source, grouped)])


def _star_of(selected: exp.Expr) -> exp.Star | None:
    """The star of an expression that stands for several columns; None for others."""
    column = selected.this if isinstance(selected, _LIKE) else selected
    star = column.this if isinstance(column, exp.Column) else column
    return star if isinstance(star, exp.Star) else None


def _starred(select: exp.Select, selected: exp.Expr, source: Source, grouped: bool) -> list[exp.Expr]:
    """What a star stands for; it stays if it is plain, or DuckDB alone understands it, as do other expressions."""
    star, column = _star_of(selected), selected.this if isinstance(selected, _LIKE) else selected
    plain = star is not None and column is selected and not any(star.args.values())
    if star is None or (plain and not grouped):
        return [selected]
    table = column.text("table") if isinstance(column, exp.Column) else ""
    sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())] if plain else []
    merged = any(join.args.get("using") or join.method for join in select.args.get("joins") or ())
    if not table and len(sources) > 1 and not merged and all(each.alias_or_name for each in sources):
        names = [exp.to_identifier(each.alias_or_name, quoted=True) for each in sources]
        return [e for name in names for e in _starred(select, exp.Column(this=exp.Star(), table=name), source, grouped)]
    replaced = {lowered(e.alias): e.this for e in star.args.get("replace") or ()}
    renamed = {lowered(e.this.name): e.alias for e in star.args.get("rename") or ()}
    unchanged = selected.copy()
    for part in unchanged.find_all(exp.Star):
        part.set("rename", None)
    columns = source.columns(_selecting(select, unchanged, grouped=False))
    by_table = any(isinstance(e, exp.Column) and e.table for e in star.args.get("except_") or ())
    if by_table or not columns or len(set(map(lowered, columns))) < len(columns):
        return [selected]
    values = [replaced.get(lowered(name), reads.named(name, table or None)) for name in columns]
    shown = [renamed.get(lowered(name), name) for name in columns]
    return [exp.alias_(value.copy(), name, quoted=True) for value, name in zip(values, shown, strict=True)]


def _write_columns(select: exp.Select, source: Source) -> None:
    """Write an expression with COLUMNS once for each of the columns; one that DuckDB alone understands stays as it is."""
    for selected in [e for e in select.expressions if e.find(exp.Columns) is not None]:
        chosen = next(selected.find_all(exp.Columns))
        columns = source.columns(_selecting(select, chosen, grouped=False))
        names = source.columns(_selecting(select, selected, grouped=True)) if columns else ()
        if not names or len(set(map(lowered, columns))) < len(columns) or len(names) != len(columns):
            continue
        table = chosen.this.table if isinstance(chosen.this, exp.Column) else ""
        expanded = []
        for column, name in zip(columns, names, strict=True):
            filled = selected.unalias().copy()
            for part in list(filled.find_all(exp.Columns)):
                value = reads.named(column, table or None)
                filled = value if part is filled else filled
                part.replace(value)
            expanded.append(filled.as_(name, quoted=True))
        before = list(select.expressions)  # no copies: the loop finds the next expressions among them
        at = next(n for n, e in enumerate(before) if e is selected)
        select.set("expressions", [*before[:at], *expanded, *before[at + 1 :]])


def _name_fields(select: exp.Select, source: Source) -> None:
    """Note on each unnest that is selected the columns that a structure gives; none on that of a list."""
    for call in [e.unalias() for e in select.expressions if isinstance(e.unalias(), exp.Explode)]:
        names = source.columns(_selecting(select, call.copy().as_("one"), grouped=True))
        if names:
            call.meta[FIELDS] = [] if names == ["one"] else [*map(lowered, names)]


def _count_rows(select: exp.Select, source: Source) -> None:
    """Write ``count(*)`` in place of ``count(t)``, where ``t`` is no column but a whole row, which is never NULL."""
    for call in list(select.find_all(exp.Count)):
        row = call.this
        if isinstance(row, exp.Column) and not row.table and call.parent_select is select and select.args.get("from_"):
            sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
            if lowered(row.name) in {lowered(each.alias_or_name) for each in sources}:
                columns = source.columns(_selecting(select, exp.Star(), grouped=False))
                if columns and lowered(row.name) not in map(lowered, columns):
                    counted = exp.Count(this=exp.Star(), big_int=True)
                    shown = call.parent is select and call.arg_key == "expressions"
                    name = call.sql("duckdb", normalize_functions="lower")
                    call.replace(exp.alias_(counted, name, quoted=True) if shown else counted)


def _selecting(select: exp.Select, selected: exp.Expr, *, grouped: bool) -> exp.Select:
    """The query of one expression over the rows of a SELECT."""
    query = exp.select(selected.copy())
    copy_clauses(select, query, ("from_", "joins", "laterals", "with_", *(["group"] if grouped else [])))
    return query


def _without_pivots(place: exp.Expr) -> exp.Expr:
    """A source of rows without what is done with them."""
    if place.args.get("joins") or place.args.get("laterals"):
        raise unsupported("a join behind PIVOT", "Write PIVOT (SELECT ...) ON ...")
    source = place.copy()
    source.set("pivots", None)
    return source


def _pivoted(
    group: exp.Group | None, rows: exp.Select, on: Sequence[exp.Expr], using: Sequence[exp.Expr], source: Source
) -> exp.Select:
    """PIVOT: one row for each group, with the aggregates of the rows of each value."""
    turned = rows.subquery("pivoted")
    listed: list[tuple[exp.Expr, Sequence[exp.Expr]]] = []
    for part in on:
        query = part.args.get("query") if isinstance(part, exp.In) else None
        if isinstance(part, exp.In) and query is None:
            listed.append((part.this, part.expressions))
            continue
        of_rows = exp.select(part.copy().as_("v")).distinct().from_(turned.copy()).order_by("v")
        values = source.values(of_rows if query is None else query.unnest().copy())
        listed.append((part if query is None else part.this, values))
    aggregates = list(using) or [exp.Count(this=exp.Star(), big_int=True)]
    columns = list(product(*(values for _, values in listed)))
    if len(columns) * len(aggregates) > MAX_COLUMNS:
        raise too_complex(f"PIVOT has more than {MAX_COLUMNS} columns")
    read = (c for part in (*(axis for axis, _ in listed), *aggregates) for c in part.find_all(exp.Column))
    keys = source.others(rows, {lowered(c.name) for c in read}) if group is None else group.expressions
    pivoted = exp.select(*(key.copy() for key in keys)).from_(turned)
    for chosen in columns:
        alike = zip(listed, chosen, strict=True)
        here = exp.and_(*(exp.EQ(this=axis.copy(), expression=value.unalias().copy()) for (axis, _), value in alike))
        for aggregate in aggregates:
            named = aggregate.alias or (aggregate.sql("duckdb", normalize_functions="lower") if len(aggregates) > 1 else "")
            first, *others = map(_text, chosen)
            name = "_".join([first or "''", *others, *([named] if named else [])])  # as DuckDB names an empty text
            cell = exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=here.copy()))
            pivoted = pivoted.select(cell.as_(name, quoted=True))
    return pivoted.group_by(*(key.copy() for key in keys)) if keys else pivoted


def _unpivoted(
    pivot: exp.Pivot, rows: exp.Select, on: list[exp.Expr], using: Sequence[exp.Expr], source: Source
) -> exp.Query:
    """UNPIVOT: one row for each column that is not NULL, with INCLUDE NULLS for each column."""
    name, value, into = "name", "value", pivot.args.get("into")
    if into is not None:
        name, (value, *_) = into.this.name, [column.name for column in into.expressions]
    elif using:
        name, value = on[0].this.name, using[0].name
        on = list(on[0].expressions)
    for pattern in [part for part in on if isinstance(part, exp.Columns | exp.Star)]:
        at = on.index(pattern)
        on[at : at + 1] = map(reads.named, source.columns(exp.select(pattern.copy()).from_(rows.subquery("turned"))))
    if not on or not all(isinstance(column, exp.Column) for column in on):
        raise unsupported("UNPIVOT of columns that are not named", "Name the columns.")
    kept = source.others(rows, {lowered(column.name) for column in on})
    parts = []
    for column in on:
        there = None if pivot.args.get("include_nulls") else exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
        cells = [*kept, exp.Literal.string(column.name).as_(name, quoted=True), column.copy().as_(value, quoted=True)]
        parts.append(exp.select(*(cell.copy() for cell in cells)).from_(rows.subquery("turned")).where(there))
    return united(parts)


def _text(value: exp.Expr) -> str:
    """A value as part of the name of a column."""
    literal = value.find(exp.Literal)
    if value.alias or literal is None:
        return value.alias or value.sql("duckdb").lower()
    return ("-" if value.find(exp.Neg) else "") + literal.name

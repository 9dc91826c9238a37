"""Aggregates over the rows joined with the persons' records as aggregates over these: ``count(s.item)`` of ``customers c
LEFT JOIN sales s ON s.id = c.id`` is the sum over customers of the number of their items.

What the rows of persons come to by the persons is then an average of a number of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    GROUPED,
    aliased,
    clauses_of,
    conditions_of,
    filtered_by,
    rewritten,
    set_conditions,
    sides_of,
    with_filter,
)
from anondb.answers.ranged.equivalents import resolved
from anondb.answers.ranged.originals import Originals
from anondb.query.parsing import conjoined, lowered

_STRICT = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Cast, exp.DataType, exp.Length),
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg),
)
"""Expressions that are NULL if a column in them is NULL."""
_OMITTING = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
"""Aggregates that leave out NULL."""


@dataclass(frozen=True)
class RowsOfRecords:
    """The rows that are joined with a record.

    Attributes:
        record: the alias of the records.
        inside: their alias in what is written.
        rest: the sources of the rows; all but the first are joins.
        where: the conditions on the rows.
        ids: the id of the records, and that of the rows.
    """

    record: str
    inside: str
    rest: Sequence[exp.Expr]
    where: Sequence[exp.Expr]
    ids: tuple[str, str]

    @classmethod
    def of(
        cls, record: exp.Expr, inside: str, link: exp.Expr, rest: Sequence[exp.Expr], originals: Originals
    ) -> RowsOfRecords | None:
        """The rows that a join links to records; None where it does not compare the ids.

        Args:
            record: the table of records.
            inside: its alias where the rows are joined with it.
            link: the join that says which rows are whose.
            rest: the sources of the rows.
            originals: the original's tables.
        """
        first, own = rest[0].this, originals.record(record)
        ids = None if not isinstance(first, exp.Table) or first.db else originals.id_of(lowered(first.name))
        names = [record.alias_or_name, inside, first.alias_or_name]
        if own is None or ids is None or any(lowered(p.this.alias_or_name) in map(lowered, names[:2]) for p in rest):
            return None
        equal = exp.EQ(this=exp.column(ids, first.alias_or_name), expression=exp.column(own, record.alias_or_name))
        using = [lowered(u.name) for u in link.args.get("using") or ()]
        on = [equal] if using == [own] == [ids] else conjoined(link.args.get("on"))
        sides = [{(lowered(c.table), lowered(c.name)) for c in part.find_all(exp.Column)} for part in on]
        linked = {(lowered(names[2]), ids), (lowered(inside), own)}, {(lowered(names[2]), ids), (lowered(names[0]), own)}
        if not any(isinstance(part, exp.EQ) and side in linked for part, side in zip(on, sides, strict=True)):
            return None
        return cls(names[0], inside, rest, on, (own, ids))

    def is_read(self, call: exp.Expr) -> bool:
        """Whether an aggregate of the rows can be written as one of the records."""
        if isinstance(call.this, exp.Distinct):
            what = call.this.expressions
            one = isinstance(call, exp.Count) and len(what) == 1 and isinstance(what[0], exp.Column)
            linked = {lowered(self.inside): self.ids[0], lowered(self.rest[0].this.alias_or_name): self.ids[1]}
            return one and linked.get(lowered(what[0].table)) == lowered(what[0].name)
        own, columns = {lowered(p.this.alias_or_name) for p in self.rest}, list(call.find_all(exp.Column))
        of_rows = all(lowered(column.table) in own for column in columns) and (columns or isinstance(call.this, exp.Star))
        return isinstance(call, exp.Sum | exp.Count) and bool(of_rows)

    def write(self, call: exp.Expr) -> exp.Expr:
        """An aggregate of the rows, perhaps with FILTER, as one of the records."""
        aggregate, wanted = filtered(call)
        if not isinstance(aggregate.this, exp.Distinct):
            return exp.Sum(this=exp.Subquery(this=self.rows(call)))
        return filtered_by(exp.Count(this=exp.Star()), exp.Exists(this=self.rows(exp.convert(1), wanted)))

    def rows(self, shown: exp.Expr, *further: exp.Expr | None) -> exp.Expr:
        """The rows of a record that satisfy further conditions."""

        def moved(node: exp.Expr) -> exp.Expr:
            of = isinstance(node, exp.Column) and lowered(node.table) == lowered(self.inside)
            return exp.column(node.this.copy(), self.record) if of else node

        inner = exp.select(shown.copy()).from_(self.rest[0].this.copy())
        inner.set("joins", [p.copy() for p in self.rest[1:]])
        return inner.where(*(part.copy() for part in (*self.where, *further) if part is not None)).transform(moved)


def with_sums_of_records(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with aggregates of persons' records in place of those of the rows that LEFT JOIN adds to these, where both
    rows and persons are counted.

    Args:
        tree: the query.
        originals: the original's tables.
    """
    if not any(join.side == "LEFT" for join in tree.find_all(exp.Join)) or tree.find(exp.AggFunc) is None:
        return tree
    return rewritten(tree, lambda select: _write(select, originals))


def _write(select: exp.Select, originals: Originals) -> None:
    """Write a SELECT of records and their rows as one of records, if it counts both."""
    joins = select.args.get("joins") or []
    if not joins or not clauses_of(select) <= GROUPED or any(j.side != "LEFT" or j.method for j in joins) or select.is_star:
        return
    record = select.args["from_"].this
    rows = RowsOfRecords.of(record, record.alias_or_name, joins[0], joins, originals)
    if rows is None or not all(_depends(join, joins[:n]) for n, join in enumerate(joins) if n):
        return
    clauses = [*select.expressions, *(select.args[key] for key in ("having", "order") if select.args.get(key) is not None)]
    calls = [c for clause in clauses for c in clause.find_all(exp.AggFunc) if c.parent_select is select]
    of_persons = [call for call in calls if _counts(call, lowered(rows.record), rows.ids[0])]
    others = [call for call in calls if call not in of_persons]
    aliases = {lowered(join.this.alias_or_name) for join in joins}
    if not all(_is_of(call, aliases) for call in others) or not _groups_records(select, calls, originals):
        return
    filters = [call.parent.expression for call in of_persons if isinstance(call.parent, exp.Filter)]
    if any(lowered(column.table) in aliases or not column.table for part in filters for column in part.find_all(exp.Column)):
        return
    if len(joins) > 1 and not of_persons and _is_each(select, rows):
        _write_each(select, calls, rows)
    elif of_persons and all(map(rows.is_read, others)) and not all(isinstance(c.this, exp.Distinct) for c in others):
        _write_sums(select, calls, of_persons, rows)


def _depends(join: exp.Join, before: Sequence[exp.Expr]) -> bool:
    """Whether a join adds nothing where the rows before it are NULL: it needs a column of theirs to be equal to its own."""
    earlier, alias = {lowered(p.this.alias_or_name) for p in before}, lowered(join.this.alias_or_name)
    columns = list(join.args["on"].find_all(exp.Column)) if join.args.get("on") is not None else []
    if not columns or any(lowered(column.table) not in {*earlier, alias} for column in columns):
        return False
    for part in conjoined(join.args["on"]):
        sides = sides_of(part, exp.EQ)
        tables = [lowered(side.text("table")) for side in sides if isinstance(side, exp.Column)]
        if len(tables) == 2 and tables.count(alias) == 1 and {*tables} <= {*earlier, alias}:
            return True
    return False


def _is_each(select: exp.Select, rows: RowsOfRecords) -> bool:
    """Whether a SELECT groups records by their ids, so that each group is one person."""
    group = select.args.get("group")
    if group is None or clauses_of(group) != {"expressions"}:
        return False
    keys = [resolved(key, select) for key in group.expressions]
    own = [key for key in keys if isinstance(key, exp.Column) and lowered(key.table) in ("", lowered(rows.record))]
    return any(lowered(key.name) == rows.ids[0] and key.table for key in own)


def _write_each(select: exp.Select, calls: Sequence[exp.Expr], rows: RowsOfRecords) -> None:
    """Write the aggregates of the rows of each person as subqueries."""
    aliases, having = aliased(select), conditions_of(select, "having")
    if any(not c.table and lowered(c.name) in aliases for part in having for c in part.find_all(exp.Column)):
        return  # WHERE reads columns alone
    for call in calls:
        whole = with_filter(call)
        one = exp.Subquery(this=rows.rows(whole))
        whole.replace(exp.alias_(one, whole.sql("duckdb"), quoted=True) if whole.parent is select else one)
    set_conditions(select, [*conditions_of(select), *having])
    select.set("joins", [])
    for key in ("group", "having"):
        select.set(key, None)


def _write_sums(select: exp.Select, calls: Sequence[exp.Expr], of_persons: Sequence[exp.Expr], rows: RowsOfRecords) -> None:
    """Write the aggregates of persons and of their rows as those of records."""
    for call in calls:
        whole = with_filter(call)
        count = filtered_by(exp.Count(this=exp.Star()), filtered(whole)[1])
        written = count if call in of_persons else rows.write(whole)
        if isinstance(written, exp.Sum) and isinstance(call, exp.Count) and select.args.get("group") is None:
            written = exp.func("coalesce", written, exp.convert(0))  # without records
        whole.replace(exp.alias_(written, whole.sql("duckdb"), quoted=True) if whole.parent is select else written)
    select.set("joins", [])


def _groups_records(select: exp.Select, calls: Sequence[exp.Expr], originals: Originals) -> bool:
    """Whether all columns of a SELECT of records and their rows, but those of aggregates and joins, are of the records."""
    record, joins = select.args["from_"].this, select.args["joins"]
    own, of_rows = (originals.columns[lowered(table.name)] for table in (record, joins[0].this))
    inside = {id(column) for part in (*calls, *joins) for column in part.find_all(exp.Column)}
    aliases = aliased(select)
    for column in [c for c in select.find_all(exp.Column) if id(c) not in inside and c.parent_select is select]:
        name = lowered(column.name)
        plain = not column.table and (name in aliases or (name in own and name not in of_rows))
        if not plain and lowered(column.table) != lowered(record.alias_or_name):
            return False
    return True


def _counts(call: exp.Expr, alias: str, name: str) -> bool:
    """Whether an aggregate counts the different values of a column."""
    what = call.this.expressions if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct) else []
    column = what[0] if len(what) == 1 else None
    return isinstance(column, exp.Column) and (lowered(column.table), lowered(column.name)) == (alias, name)


def _is_of(call: exp.Expr, aliases: Collection[str]) -> bool:
    """Whether an aggregate names only columns of some sources, and leaves out a row where these are NULL."""
    whole = with_filter(call)
    what = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this]
    strict = len(what) == 1 and isinstance(what[0], exp.Expr) and all(isinstance(n, _STRICT) for n in what[0].walk())
    columns = list(whole.find_all(exp.Column))
    own = bool(columns) and all(lowered(column.table) in aliases for column in columns) and whole.find(exp.Query) is None
    return own and strict and what[0].find(exp.Column) is not None and isinstance(call, _OMITTING)


def each_written(node: exp.Expr, write: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """An expression with other aggregates in place of its own."""
    made = exp.paren(node.copy())
    for call in [c for c in made.find_all(exp.AggFunc) if c.find_ancestor(exp.Query, exp.AggFunc) is None]:
        whole = with_filter(call)
        whole.replace(write(whole.copy()))
    written: exp.Expr = made.this
    return written

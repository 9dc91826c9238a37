"""The values of the column of a partitioned view, beside the releases that the ledger has of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anondb.data.sources import Partition, QuerySource, Source, describe
from anondb.data.types import ID_TYPES
from anondb.engine import Engine, Query, reads
from anondb.engine.queries import source_text
from anondb.engine.texts import Sql, listed, quoted, sql
from anondb.errors import InputError
from anondb.ledger import ledger
from anondb.publications import history
from anondb.views import parts
from anondb.views.folders import file_name
from anondb.views.parts import Part, Value

MAX_VALUES = 10_000
MAX_NAME_BYTES = 240  # most file systems have names of up to 255
_ROWS = "rows of the view"


@dataclass(frozen=True)
class Survey:
    """The values of a view beside its parts."""

    new: Sequence[Value]  # values without a release, in their order
    again: Sequence[Value]  # values whose release was never published, and whose rows have changed
    late: Sequence[tuple[Part, Value]]  # published parts whose rows have changed
    kept: Sequence[Part]  # parts that stay, also those with late rows and those whose rows are gone
    gone: int  # the number of parts whose value has no rows any more

    @property
    def changed(self) -> bool:
        """Whether REFRESH has something to do, or to refuse."""
        return bool(self.new or self.again or self.late)


def survey_of(engine: Engine, catalog: str, view: ledger.View, existing: Sequence[Part]) -> Survey:
    """Compare the values of a view with its parts. Call it inside a transaction. Raises InputError: ``bad_partition``,
    ``no_such_column``, ``bad_type``, ``collation``."""
    values = values_of(engine, view)
    public = {p.release_id for p in history.publications(engine, catalog)} if existing else set()
    now = {value.partition.value: value for value in values}
    then = {part.partition.value: part for part in existing}
    changed = [(p, now[v]) for v, p in then.items() if v in now and not now[v].same_rows(p.digest)]
    again = [(p, value) for p, value in changed if p.release_id not in public]
    return Survey(
        new=[value for v, value in now.items() if v not in then],
        again=[value for _, value in again],
        late=[(p, value) for p, value in changed if p.release_id in public],
        kept=[p for p in existing if p not in [part for part, _ in again]],
        gone=len(then.keys() - now.keys()),
    )


def column_of(view: ledger.View) -> str:
    """The name of the column as the owner wrote it."""
    return str(view.options["partition_by"])


def source_of(engine: Engine, view: ledger.View) -> tuple[Source, str, str]:
    """The rows of a view, the column of its values, and its type."""
    query = QuerySource(view.query, "", view.table).query()
    source = describe(engine, query, f"the query of the view {view.name!r}")
    column = source.column(column_of(view), "partition_by")
    kind = source.columns[column]
    if not ID_TYPES.match(kind) or "ZONE" in kind:
        raise InputError(
            f"The column {column!r} has a type whose values cannot be compared exactly.",
            code="bad_type",
            hint="Cast it to text, a date or an integer in the query.",
        )
    return source, column, "VARCHAR" if kind.startswith("ENUM") else kind


def values_of(engine: Engine, view: ledger.View, only: Partition | None = None) -> list[Value]:
    """The values of the column, in their order, each with the digest of its rows. Raises InputError: ``bad_partition``: a
    value is NULL or too long, two differ by case only, or there are too many."""
    source, column, kind = source_of(engine, view)
    value, whole = quoted(column), source.query if only is None else reads.rows(source.query, "*", where=only.condition)
    shown = sql(
        "CAST({0}.{1} AS VARCHAR) AS value, concat_ws(':', version(), count(*), sum(hash({0})))", quoted(_ROWS), value
    )
    text = sql(
        "SELECT {0} AS digest FROM {1} AS {2} GROUP BY {2}.{3} ORDER BY {2}.{3}",
        shown,
        Sql(source_text(whole)),
        quoted(_ROWS),
        value,
    )
    rows = engine.select(Query(text).first(MAX_VALUES + 1), "the values of a column")
    texts, digests = rows["value"].tolist(), rows["digest"].tolist()
    problem = None
    if len(texts) > MAX_VALUES:
        problem = f"The column {column!r} has more than {MAX_VALUES:,} values."
    elif None in texts:
        number = parts.rows_of(digests[texts.index(None)])
        problem = f"{number:,} rows have no value in the column {column!r}."
    elif len({text.casefold() for text in texts}) < len(texts):
        problem = f"Values of the column {column!r} differ by upper and lower case only."
    elif any(len(file_name(Partition(column, text, kind))) > MAX_NAME_BYTES for text in texts):
        problem = f"Values of the column {column!r} are too long for names of files."
    if problem is not None:
        raise InputError(problem, code="bad_partition", hint="Change the query, or name another column.")
    return [Value(Partition(column, t, kind), str(d)) for t, d in zip(texts, digests, strict=True)]


def among(values: Sequence[Value]) -> Sql:
    """The condition that a row has one of some values."""
    literals = listed(value.partition.literal for value in values)
    return sql("{} IN ({})", quoted(values[0].partition.column), literals)

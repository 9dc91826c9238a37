"""Check queries against the original tables, as far as a release reveals them: does DuckDB accept the query and literals?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from sqlglot import exp

from anondb.data.types import LISTS
from anondb.engine import Binder, DuckDBEngine, Engine, Shape
from anondb.errors import InputError
from anondb.query.parsing import inline_table, lowered
from anondb.query.values import Attribute, Kind, kind_of
from anondb.release.manifest import types_of
from anondb.release.objects import RECORDS


def records_tables(manifest: Mapping[str, str]) -> tuple[str, ...]:
    """The names, in lower case, under which analysts may ask the relational records: the original one, and ``records``."""
    return tuple(dict.fromkeys((lowered(manifest.get("records_table", RECORDS)), RECORDS)))


def hides_baskets(manifest: Mapping[str, str]) -> bool:
    """Whether a table of the original has the name of the view ``baskets`` of a sealed file, which it then hides."""
    return "baskets" in (lowered(manifest["table"]), *records_tables(manifest))


class Original:
    """The original's tables, as far as a release reveals them.

    Args:
        engine: the engine of the release.
        manifest: the manifest of the release.
        items: all original items that it lists.
        attributes: the relational attributes; None without records.
    """

    def __init__(
        self,
        engine: Engine,
        manifest: Mapping[str, str],
        items: Sequence[str],
        attributes: Sequence[Attribute] | None,
    ) -> None:
        self._engine, self._manifest, self._items, self._attributes = engine, manifest, items, attributes
        self._binder: tuple[Shape, Binder] | None = None
        self.divided: Mapping[str, str] = {}
        """The name and the type of the column that divides the table into files, for a session over them."""
        self.session_engine: DuckDBEngine
        """The engine of a session, beside whose tables queries are bound."""

    @cached_property
    def kind(self) -> Kind | None:
        """The type of the items, or one that they may have; None for texts."""
        return kind_of(self._type, self._items)

    @property
    def _type(self) -> str:
        return types_of(self._manifest)[self._manifest["item_column"]]

    # ---------------------------------------------------------------- queries

    @property
    def shape(self) -> tuple[object, ...]:
        """What ``accepted`` depends on: releases with equal shapes accept the same queries."""
        return self.kind, tuple((lowered(name), tuple(columns.items())) for name, columns in self.tables())

    def accepted(self, sql: str, beside: Shape = ()) -> list[tuple[str, str]] | None:
        """The names and the types of the columns of a query; None if DuckDB does not accept it for the original.

        Args:
            sql: the query.
            beside: other tables that the query may read.

        Raises:
            InputError: ``ambiguous_item``: the items may have a type that the manifest has no name for, and DuckDB accepts
                the query for either this or texts.
        """
        if self._binder is None or self._binder[0] != beside:
            if self._binder is not None:
                self._binder[1].close()
            self._binder = beside, self._bind(beside)
        columns, *others = (self._binder[1].columns(sql, kind) for kind in self._types)
        if any((other is None) != (columns is None) for other in others):
            raise InputError(
                f"The items of the release may be texts or of the type {self._types[1]}, and DuckDB accepts the query"
                " for only one of the two.",
                code="ambiguous_item",
                hint="Compare items by = and IN with texts.",
            )
        return columns

    @property
    def _types(self) -> list[str]:
        """The type of the items, and one that they may have instead."""
        return [self._type, *([self.kind.sql] if self.kind and not self.kind.named else [])]

    def _bind(self, beside: Shape) -> Binder:
        shapes = {kind: [*self._tables(kind), *beside] for kind in self._types}
        return Binder(shapes, self.session_engine)

    def tables(self) -> list[tuple[str, Mapping[str, str]]]:
        """The names of the tables, with the names and types of their columns."""
        return self._tables(self._type)

    def _tables(self, kind: str) -> list[tuple[str, Mapping[str, str]]]:
        table, id_column, item_column = (self._manifest[k] for k in ("table", "id_column", "item_column"))
        id_type, items = types_of(self._manifest)[id_column], f"{kind}[]" if self._manifest["layout"] == LISTS else kind
        hidden = hides_baskets(self._manifest)
        tables: dict[str, Mapping[str, str]] = (
            {} if hidden else {"baskets": {"transaction_id": "BIGINT", "items": "VARCHAR[]"}}
        )
        tables[table] = {id_column: id_type, item_column: items, **self.divided}
        if self._attributes is not None:
            columns = {a.name: a.kind for a in self._attributes}
            written = {lowered(name): name for name in (self._manifest.get("records_table", RECORDS), table)}
            for lower in records_tables(self._manifest):
                name = written.get(lower, lower)
                if name == table:
                    tables[name] = {**tables[name], **columns}
                tables.setdefault(name, {id_column: id_type, **columns})
        return list(tables.items())

    # ---------------------------------------------------------------- literals

    def check_order(self, *, symmetric: bool) -> None:
        """Refuse a query that depends on the order of the items, if they are numbers, dates or the like.

        Args:
            symmetric: whether the query does not depend on it.
        """
        if self.kind is not None and not symmetric:
            raise InputError(
                f"The items of the release have the type {self.kind.sql}, whose order is not that of their texts.",
                code="ambiguous_item",
                hint="List the items with IN; compare the items of a self-join with <>.",
            )

    def plain(self, labels: frozenset[str]) -> bool:
        """Whether texts are spelled as items of their type are."""
        kind = self.kind
        return not labels or kind is None or (all(map(kind.form.fullmatch, labels)) and not self._rewritten(labels, kind))

    def _rewritten(self, labels: frozenset[str], kind: Kind) -> bool:
        """Whether DuckDB changes or rejects one of these labels when it converts it to a type."""
        read: exp.Expr = exp.TryCast(this=exp.column("label"), to=exp.DataType.build(kind.sql, dialect="duckdb"))
        other = exp.NullSafeNEQ(this=exp.cast(read, "VARCHAR"), expression=exp.column("label"))
        asked = inline_table({"label": "VARCHAR"}, [(label,) for label in sorted(labels)]).subquery("asked")
        tree = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(asked).where(other)
        return bool(self._engine.select(tree, "the items of the query")["n"][0])

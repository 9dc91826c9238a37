"""The releases that a session asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sqlglot import exp

from anondb.answers.persons.counts import Described, Row
from anondb.answers.plans import Plans
from anondb.answers.ranged.equivalents import common_table
from anondb.answers.ranged.relation import Ranged, failed
from anondb.answers.ranged.values import ambiguous
from anondb.data.types import LISTS
from anondb.engine import Table, reads
from anondb.engine.untrusted import materialized
from anondb.query import Plan
from anondb.query.cached_release import Opened
from anondb.query.classes import NO_CLASSES
from anondb.query.original import hides_baskets, records_tables
from anondb.query.parsing import dotted, lowered
from anondb.query.predicates import ALWAYS, IDS
from anondb.query.refusals import unsupported
from anondb.query.relational import covered
from anondb.query.values import Attribute
from anondb.release.manifest import SUPPRESSED, types_of
from anondb.session.catalog import as_written, not_accepted
from anondb.session.database import SessionDatabase, bindable
from anondb.session.files import Parts
from anondb.session.result import fetched
from anondb.session.scratch import OWN_SCHEMAS

_PATTERNS = (
    *(exp.Like, exp.ILike, exp.Escape, exp.SimilarTo, exp.Glob, exp.RegexpLike, exp.RegexpFullMatch),
    *(exp.StartsWith, exp.EndsWith, exp.Contains, exp.StrPosition, exp.Anonymous),
)
SHOWN = ("item_counts", "released_items", "released_values", "item_supports", "manifest", "buckets")
"""Objects of a sealed file whose rows may be read as they are."""
MAX_SPELLINGS = 100_000  # values of a column of the session's database whose spelling is checked


class Releases:
    """The releases of a session: their counts add up, so they must be of disjoint persons (``persons.counts.Counts``).

    Args:
        releases: the releases, of tables with equal names and columns.
        database: where rows are put.
        parts: the column that divides them, if there is one.
    """

    def __init__(self, releases: Sequence[Opened], database: SessionDatabase, parts: Parts | None = None) -> None:
        self._opened, self._parts = releases, parts
        for release in releases:
            release.original.divided = {} if parts is None else {parts.column: parts.kind}
        self._originals = list({release.original.shape: release.original for release in self._opened}.values())
        self._database, self.put, self.put_listed = database, database.put, database.put_listed
        self.is_aggregate = database.is_aggregate
        self.manifest = self._opened[0].manifest
        self.notes: dict[str, None] = {}
        self._written: frozenset[str] = frozenset()  # the texts in a query, and those of them that may name an item
        self._meant: frozenset[str] = frozenset()
        self._own: frozenset[str] = frozenset()
        self._domain: tuple[Table, frozenset[str]] | None = None
        self._plans = Plans(releases)

    @property
    def shapes(self) -> list[tuple[str, Mapping[str, str]]]:
        """The names and columns of the tables of persons."""
        return self._opened[0].original.tables()

    @property
    def persons(self) -> str:
        """The name of the table of persons and their items, in lower case."""
        return lowered(self.manifest["table"])

    @cached_property
    def persons_tables(self) -> dict[str, dict[str, bool]]:
        """The tables of persons in lower case, with their columns and whether each is the id."""
        return {
            lowered(name): {c: lowered(c) == lowered(self._id_of(lowered(name))) for c in of} for name, of in self.shapes
        }

    def _id_of(self, table: str) -> str:
        return "transaction_id" if self._is_view(table) else self.manifest["id_column"]

    def _is_view(self, table: str) -> bool:
        """Whether a name is that of the view ``baskets`` of the files."""
        return table == "baskets" and not hides_baskets(self.manifest)

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""
        return any(release.suppressed for release in self._opened)

    @property
    def hidden(self) -> int | None:
        """The largest number of different items that suppression may hide; None if there is no such bound."""
        said = [release.manifest.get(SUPPRESSED) for release in self._opened]
        return None if None in said else sum(int(number or 0) for number in said)

    def start(self) -> dict[str, None]:
        """Begin a query; returns its notes, which grow while it is answered."""
        self.notes = {}
        self._domain = None
        return self.notes

    def bind(self, tree: exp.Expr) -> list[tuple[str, str]]:
        """Have DuckDB bind a query to the original's tables, the analyst's, and the objects of the release that it names.

        A file says BIGINT of every type of whole numbers. What DuckDB takes of INTEGER alone, such as ``chr(age)``, reads
        columns so: the query is changed.

        Returns:
            The names and types of its columns.

        Raises:
            InputError: ``bad_sql`` or ``ambiguous_item``.
        """
        columns = self.accepted(tree)
        if columns is None and (narrow := self._with_integers(tree)) is not None:
            columns = self.accepted(narrow)
            for part in narrow.args if columns is not None else ():
                tree.set(part, narrow.args[part])
        if columns is None:
            raise not_accepted(tree, (*self.shapes, *self._database.shapes))
        return columns

    def accepted(self, tree: exp.Expr) -> list[tuple[str, str]] | None:
        """The names and types of the columns of a query; None if DuckDB does not accept it (``bind``)."""
        texts = [literal for literal in tree.find_all(exp.Literal) if literal.is_string]
        self._written = frozenset(text.name for text in texts)
        self._meant = frozenset(text.name for text in texts if not isinstance(text.parent, _PATTERNS))
        self._own = frozenset(lowered(table.name) for table in tree.find_all(exp.Table))
        for table in tree.find_all(exp.Table):
            self.table(table)
        sql = bindable(tree)
        bound = [original.accepted(sql, self._database.shapes) for original in self._originals]
        return None if None in bound else bound[0]

    def _with_integers(self, tree: exp.Expr) -> exp.Expr | None:
        """A query that reads columns of small whole numbers as INTEGER; None if there are none."""
        narrow = tree.copy()
        for table in list(narrow.find_all(exp.Table)):
            columns = {} if table.db or common_table(table) is not None else dict(self.shapes).get(table.name, {})
            if columns and (small := self._integers & columns.keys()):
                cells = [
                    exp.cast(reads.named(c), "INTEGER").as_(c, quoted=True) if c in small else reads.named(c)
                    for c in columns
                ]
                alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
                rows = exp.select(*cells).from_(exp.Table(this=table.this.copy()))
                table.replace(exp.Subquery(this=rows, alias=alias, joins=table.args.get("joins")))
        return None if narrow == tree else narrow

    @cached_property
    def _integers(self) -> set[str]:
        """The columns of whole numbers, beside ids, all of whose values INTEGER has."""
        numbers = {a.name: self.extent(a.name) for a in self.attributes if a.kind == "BIGINT"}
        item, kind = self.manifest["item_column"], types_of(self.manifest)[self.manifest["item_column"]]
        if kind == "BIGINT" and not self.lists:
            numbers[item] = Fraction(min(map(int, self.items))), Fraction(max(map(int, self.items)))
        return {name for name, ends in numbers.items() if ends is not None and ends[0] >= -(1 << 31) and ends[1] < 1 << 31}

    def is_whole(self, tree: exp.Expr) -> bool:
        """Whether a part of a query is one by itself, which names no column of the query around it."""
        return self._originals[0].accepted(bindable(tree), self._database.shapes) is not None

    def named_as(self, text: str, tree: exp.Expr, bound: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The names and types of the columns of a query, with the names that its text gives (``as_written``)."""
        return as_written(text, tree, bound, lambda sql: self._originals[0].accepted(sql, self._database.shapes))

    def unqualified(self, tree: exp.Expr) -> exp.Expr:
        """A query in which a table of persons with another schema or database in its name has its name alone.

        So has another table with the schema ``main``, which tools write before every name.
        """
        names = {lowered(name) for name, _ in self.shapes}
        for table in tree.find_all(exp.Table):
            main = lowered(table.db) in OWN_SCHEMAS[1:] and lowered(table.catalog) in ("", "memory", "temp")
            if (table.db and dotted(table.parts) not in names) if lowered(table.name) in names else main:
                table.set("db", None)
                table.set("catalog", None)
                if common_table(table) is not None:
                    raise unsupported("a table whose name a common table expression has, too", "Name that one otherwise.")
        for column in tree.find_all(exp.Column):
            if column.args.get("db") is not None and dotted(column.parts[:-1]) not in names:
                column.set("db", None)
                column.set("catalog", None)
        return tree

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""
        columns = self.persons_tables.get(dotted(table.parts), {})
        return next((lowered(name) for name, is_id in columns.items() if is_id), None)

    def described(self, node: exp.Table) -> Described:
        """The columns of a table of persons."""
        name = dotted(node.parts)
        table, id_column, item_column = (lowered(self.manifest[k]) for k in ("table", "id_column", "item_column"))
        if self._is_view(name):
            return Described("transaction_id", "items", lists=True)
        names = tuple(a.name for a in self.attributes)
        part = "" if self._parts is None else self._parts.column
        if name != table:
            return Described(id_column, attributes=names)
        own = names if table in records_tables(self.manifest) else ()
        lists = self.lists
        return Described(id_column, item_column, lists, lists, lists and bool(names), own, part)

    @property
    def lists(self) -> bool:
        """Whether the original has a row for each person, with the list of their items."""
        return self.manifest["layout"] == LISTS

    @property
    def bags(self) -> bool:
        """Whether persons may have an item several times."""
        return self.manifest.get("semantics") == "atomic"

    @property
    def supported(self) -> bool:
        """Whether releases have item supports, which say more of sums than the rows do."""
        return self.summable and any(release.supported is not None for release in self._opened)

    @property
    def summable(self) -> bool:
        """Whether the releases give sums over the items of persons."""
        return not self.bags and not any(release.anatomy for release in self._opened)

    @cached_property
    def attributes(self) -> Sequence[Attribute]:
        """The relational attributes, with what any of the files says of their values; none without records."""
        alike = zip(*(release.attributes or () for release in self._opened), strict=True)
        return tuple(
            replace(of[0], has_null=any(a.has_null for a in of), values=frozenset().union(*(a.values for a in of)))
            for of in alike
        )

    # ---------------------------------------------------------------- values

    def domain(self) -> exp.Query:
        """The items that are listed or named, as rows (item, listed) of the session's database."""
        table, _ = self._domain_of()
        return exp.select("item", "listed").from_(table.expression())

    def named(self) -> frozenset[str]:
        """The items of ``domain``."""
        return self._domain_of()[1]

    def _domain_of(self) -> tuple[Table, frozenset[str]]:
        if self._domain is None:
            listed = frozenset(self.items)
            named = (self._written | self._texts()) - listed if self.suppressed else frozenset[str]()
            items = [*self.items, *sorted(named)]
            flags = [True] * len(listed) + [False] * len(named)
            table = self._database.put_columns({"item": ("VARCHAR", items), "listed": ("BOOLEAN", flags)})
            self._domain = table, listed | named
        return self._domain

    def _texts(self) -> frozenset[str]:
        """The texts in the analyst's tables that a query names: suppressed items may have these names."""
        texts: set[str] = set()
        for name in self._own & {lowered(name) for name, _ in self._database.shapes}:
            relation = self._database.table(exp.Table(this=exp.to_identifier(name, quoted=True)))
            assert relation is not None
            for values in self._texts_of(relation):
                if values is None:
                    raise unsupported("a large table of your own where items were suppressed", "Register fewer rows.")
                texts |= values
        return frozenset(texts)

    def _texts_of(self, relation: Ranged) -> Iterator[frozenset[str] | None]:
        """The values of each column of a table of the session's database as texts; None if they are many."""
        source = relation.tree.subquery("t", copy=False)
        for n in range(len(relation.columns)):
            text = exp.cast(exp.column(f"c{n}", "t"), "VARCHAR")
            rows = self.rows(exp.select(text).distinct().from_(source).limit(MAX_SPELLINGS + 1))
            yield None if len(rows) > MAX_SPELLINGS else frozenset(text for (text,) in rows if text is not None)

    def values_of(self, attribute: str) -> Sequence[Any]:
        """The values that an attribute may have; dates as ISO texts."""
        of = next(a for a in self.attributes if a.name == attribute)
        return [row[0] for row in self.answer(Plan(IDS, ALWAYS, grouped=of))]

    def extent(self, attribute: str) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest value that a number or a time may have, in days since 1970; None if all are NULL."""
        return self._extents.get(attribute)

    @cached_property
    def _extents(self) -> Mapping[str, tuple[Fraction, Fraction]]:
        ends: dict[str, list[Fraction]] = {}
        for release in self._opened:
            for of in [a for a in release.attributes or () if a.ends is not None]:
                cells = {group.cells[0] for group in release.records(NO_CLASSES, [of])}
                covers = [covered(of, cell) for cell in cells]
                ends.setdefault(of.name, []).extend(end for c in covers for end in (c.low, c.high) if end is not None)
        return {name: (min(of), max(of)) for name, of in ends.items() if of}

    def places(self, condition: exp.Expr) -> frozenset[int]:
        """The files for which a condition on the column that divides them holds."""
        assert self._parts is not None
        return frozenset(self._parts.holding(condition))

    @property
    def part_type(self) -> str:
        """The type in which the values of the column that divides the files are shown."""
        return "" if self._parts is None else self._parts.kind

    def parts(self) -> Sequence[Any]:
        """The value of the column that divides the files, in each of them; one None without such a column."""
        if self._parts is None:
            return [None] * len(self._opened)
        self.notes.update(self._parts.notes)
        return self._parts.shown

    @cached_property
    def items(self) -> Sequence[str]:
        """The items that are listed."""
        return sorted({item for release in self._opened for item in release.images})

    # ---------------------------------------------------------------- answers

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan (``Plans.answer``)."""
        return self._plans.answer(plan, self._meant, self.notes)

    def rows(self, tree: exp.Query) -> list[Row]:
        """Run a query on the session's database."""
        return fetched(materialized(self._database.engine, tree, failed))

    @property
    def objects(self) -> list[str]:
        """The names of the objects of a single release whose rows may be read."""
        if len(self._opened) > 1:
            return []
        return [name for name in SHOWN if name in self._opened[0].objects and name not in self.persons_tables]

    @property
    def reserved(self) -> list[str]:
        """The names of tables that are not the analyst's."""
        return [*(name for name, _ in self.shapes), *self.objects]

    @property
    def object_types(self) -> dict[str, dict[str, str]]:
        """The objects, with the types of their columns."""
        release, types = self._opened[0], {}
        for name in self.objects:
            shown = release.engine.relation(exp.select("*").from_(release.schema.table(name).expression()).limit(0))
            types[name] = dict(zip(shown.columns, map(str, shown.types), strict=True))
        return types

    def table(self, node: exp.Table) -> Ranged | None:
        """The rows of a table of the analyst, or of an object of a single release."""
        relation = self._database.table(node)
        if relation is not None and self.typed:
            return self._spelled(node.name, relation)
        if relation is not None or node.db or lowered(node.name) not in self.objects:
            return relation
        release = self._opened[0]
        stored = release.schema.table(lowered(node.name))
        columns = release.engine.select(exp.select("*").from_(stored.expression()), "an object of the release")
        with self._database.engine.registered(columns) as source:
            self._database.store(node.name, exp.select("*").from_(source.expression()))
        return self.table(node)

    @property
    def typed(self) -> bool:
        """Whether the items have another type than text."""
        return any(release.original.kind is not None for release in self._opened)

    @property
    def type(self) -> str:
        """The type of the items.

        Raises:
            InputError: ``ambiguous_item``: the manifest has no name for it.
        """
        kinds = {release.original.kind for release in self._opened}
        if any(kind is not None and not kind.named for kind in kinds) or len(kinds) > 1:
            raise ambiguous("the value of an expression of them")
        (kind,) = kinds
        return "VARCHAR" if kind is None else kind.sql

    def plain(self, labels: frozenset[str]) -> bool:
        """Whether texts are spelled as items of their type are."""
        return all(release.original.plain(labels) for release in self._opened)

    def _spelled(self, name: str, relation: Ranged) -> Ranged:
        """A table of the session's database, with the columns marked that are spelled as items are."""
        marks = self._database.plain.get(lowered(name))
        if marks is None:
            marks = [texts is not None and self.plain(texts) for texts in self._texts_of(relation)]
            self._database.plain[lowered(name)] = marks
        return replace(relation, columns=tuple(replace(c, plain=p) for c, p in zip(relation.columns, marks, strict=True)))

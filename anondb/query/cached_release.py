"""An open release: its constant parts are cached in memory, the rest is read from its tables on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine import Table, check_collation, load, reads, tuples
from anondb.errors import AnondbError, InputError
from anondb.query.classes import Block, Classes, Group, Members, Passing
from anondb.query.evaluate import Bag, Passed
from anondb.query.held_sums import counted, grouped_sums
from anondb.query.original import Original
from anondb.query.parsing import inline_table
from anondb.query.reading import HeldItems, Together, images_of
from anondb.query.relational import cell_columns, cells_of, read_attributes
from anondb.query.summed import SUM, Summed, of_sums, shares_by_item, summed, with_sums
from anondb.query.values import Attribute
from anondb.release.reader import SealedRelease

if TYPE_CHECKING:
    from anondb.query.anatomy import BucketAnswers
    from anondb.query.by_item import ItemRow
    from anondb.query.supported import SupportedAnswers

_NEEDED = {
    *("release_id", "transactions", "semantics", "suppression"),
    *("table", "id_column", "item_column", "layout", "types"),
}
MAX_SUMS = 8  # that are kept


class Opened:
    """An open release: its manifest, and the members of its released items.

    Args:
        sealed: the release.
        together: the releases of its engine that are asked beside it.

    Raises:
        InputError: ``not_a_release``.
    """

    def __init__(self, sealed: SealedRelease, together: Together) -> None:
        self.engine, self.schema, self.together = sealed.engine, sealed.schema, together
        self.manifest: Mapping[str, str] = sealed.manifest
        self.members = self.schema.table("released_items")
        members = together.members(self.schema)
        if members is None or not self.manifest.keys() >= _NEEDED:
            raise InputError("The schema or file does not hold a release.", code="not_a_release", hint="Name a sealed file.")
        self.images = images_of(members)
        self.local = sealed.kind.local
        self.objects = {*sealed.kind.tables, *sealed.kind.views}
        self.anatomy = self.manifest.get("model") == "anatomy"
        self.suppressed = self.manifest["suppression"] != "none"
        self.differing = self.local and self.suppressed  # different items may be missing in different transactions
        self.attributes = read_attributes(sealed)
        self.sizes: Mapping[str, int] = Counter(map(itemgetter(0), members))
        self.listed = [item for _, item in members]  # the members of each released item, in the order of sizes
        self.items = sorted(self.images)
        self.bags = self._read_bags() if self.manifest["semantics"] != "set" else None
        self.size = int(self.manifest["transactions"])
        self.summed = lru_cache(maxsize=MAX_SUMS)(partial(summed, self))
        self.by_item: Sequence[ItemRow] | None = None  # the counts of all items, once asked for
        self.before: dict[str, Any] = {}  # what was asked for last (``reading.last``)

    def _read_bags(self) -> Mapping[str, Mapping[str, Bag]]:
        """The variants of each label's released items that bags distinguish (see ``query/bag_rows``)."""
        rows = self.engine.select(reads.rows(self.rows, "item, label, copies, nested", distinct=True, order="item"))
        bags: dict[str, dict[str, Bag]] = {label: {} for label in self.sizes}
        for item, label, copies, nested in tuples(rows):
            if label not in bags or copies is None or copies < 1:
                raise InputError("This release is damaged.", code="not_a_release", hint="Publish it again.")
            bags[label][item] = Bag(copies, nested)
        return bags

    def is_current(self) -> bool:
        """Whether the tables still hold this release: release ids are random and never reused.

        Raises:
            InputError: ``collation``: DuckDB does not compare texts by code points.
        """
        try:
            rows = self.engine.query("query/release_id", {"manifest": self.schema.table("manifest")})
        except AnondbError:
            return False
        for collation in rows["collation"].tolist():
            check_collation(collation)
        return bool(rows["release_id"].tolist() == [self.manifest["release_id"]])

    def blocks(self, passing: Passing) -> dict[str, Block]:
        """The released items with a member that passes a test."""
        special: dict[str, Counter[Passed]] = {}
        for label, passed in passing.special.items():
            for released in self.images.get(label, ()):
                special.setdefault(released, Counter())[passed] += 1
        blocks: dict[str, Block] = {}
        usual = {size: Block(size, ((passing.usual, size),)) for size in set(self.sizes.values())}
        for released in self.sizes if any(passing.usual) else special:
            if released not in special:
                blocks |= self.published(usual[self.sizes[released]], released)
                continue
            counts = special[released]
            counts[passing.usual] += self.sizes[released] - counts.total()
            passes_some = tuple(sorted((p, n) for p, n in counts.items() if n and any(p)))
            if passes_some:
                blocks |= self.published(Block(self.sizes[released], passes_some), released)
        return blocks

    def published(self, block: Block, label: str) -> dict[str, Block]:
        """The released items of a label: exactly one in a release of sets."""
        if self.bags is None:
            return {label: block}
        return {item: replace(block, bag=bag) for item, bag in self.bags[label].items()}

    def block(self, item: str) -> Block:
        """The block of a released item without a member that passes a test."""
        label = self.label_of(item)
        return Block(self.sizes[label], (), None if self.bags is None else self.bags[label][item])

    def label_of(self, item: str) -> str:
        """The published label of a released item."""
        return item if self.bags is None else self._labels[item]

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        """The label of each released item in a release of bags."""
        return {item: label for label, items in (self.bags or {}).items() for item in items}

    @cached_property
    def places(self) -> npt.NDArray[np.int64] | None:
        """The place of the released item of each item; None without items, and if items have several released items."""
        if not self.items or len(self.images) < len(self.listed):
            return None
        place = {label: n for n, label in enumerate(self.sizes)}
        return np.array([place[label] for (label,) in map(self.images.__getitem__, self.items)])

    @cached_property
    def supported(self) -> SupportedAnswers | None:
        """Better answers from the item supports; None without them."""
        from anondb.query.supported import SupportedAnswers

        return SupportedAnswers(self) if "item_supports" in self.manifest else None

    @cached_property
    def buckets(self) -> BucketAnswers:
        """Answers from the buckets of an anatomy."""
        from anondb.query.anatomy import BucketAnswers

        return BucketAnswers(self)

    @cached_property
    def original(self) -> Original:
        """The properties of the original tables that the release reveals."""
        return Original(self.engine, self.manifest, self.items, self.attributes)

    def unknown(self, labels: frozenset[str]) -> frozenset[str]:
        """The labels that no released item stands for.

        Raises:
            InputError: ``ambiguous_item`` if one of them may be another spelling of an item.
        """
        missing = frozenset(label for label in labels if label not in self.images)
        if not self.original.plain(missing):
            raise InputError(
                "A literal may be another spelling of an item in the release, or not of the type of its items.",
                code="ambiguous_item",
                hint="Write items as the release does.",
            )
        return missing

    # ---------------------------------------------------------------- transactions

    def _signatures(self, classes: Classes) -> list[tuple[tuple[int, ...], int]]:
        """Count the transactions with a relevant item by their numbers of released items of each class."""
        if not classes.parts:
            return []
        if len(classes.of) == 1:
            (released,) = classes.of
            return [((1,), self.supports.get(released, 0))]
        read = self.numbered.rows_for(classes) if self.numbered else None
        if read is not None:
            signatures, numbers = counted(read.signatures(classes.codes()))
            each = zip(classes.all_counts(signatures), signatures.tolist(), numbers.tolist(), strict=True)
            return [(counts, n) for counts, signature, n in each if signature]
        columns = self.engine.select(reads.counted(self.held(classes), "signature", order="signature"))
        rows = zip(columns["signature"].tolist(), columns["n"].tolist(), strict=True)
        return [(classes.counts(signature), n) for signature, n in rows]

    def records(self, classes: Classes, attributes: Sequence[Attribute] = (), sums: Sequence[Summed] = ()) -> list[Group]:
        """Group the records by their numbers of released items of each class, their published values, and whether items may
        be missing.

        Args:
            classes: the classes of released items.
            attributes: those whose values are read.
            sums: the sums over the items of each, the one of the measure first.
        """
        if not (sums or attributes or self.differing):
            signatures = self._signatures(classes)
            rest = classes.counts(None), self.size - sum(n for _, n in signatures)
            return [Group(counts, (), not self.suppressed, n) for counts, n in [*signatures, rest] if n]
        if not sums:
            return self._records(classes, attributes, self.held(classes), ())
        codes, numbered = classes.codes(), self.numbered
        assert numbered is not None  # bags and buckets have no sums
        plain = all(one.kind == SUM for one in sums) and not (attributes or self.differing or classes.wide)
        if plain and (rows := numbered.rows):
            return grouped_sums(rows, not self.suppressed, classes, codes, sums)
        with self.engine.registered(shares_by_item(sums, codes, classes.wide, numbered.numbers)) as shares:
            return self._records(classes, attributes, with_sums(self.held(classes, shares), sums), sums)

    def _records(
        self, classes: Classes, attributes: Sequence[Attribute], held: exp.Query, sums: Sequence[Summed]
    ) -> list[Group]:
        """Group the records; ``held`` has the signature and the sums of each transaction."""
        columns = [c for a in attributes for c in cell_columns(a)]
        base = "ids" if self.differing or not columns else "records"
        shown = [column.as_(f"c{n}") for n, column in enumerate(columns)]
        complete: exp.Expr = exp.column("complete", "ids") if self.differing else exp.convert(not self.suppressed)
        people = exp.alias_(self.schema.table("records").expression(), "records", table=True)
        source = people if base == "records" else self.ids.subquery("ids")
        tree = exp.select(*shown, complete.as_("complete")).from_(source)

        def same(other: str) -> exp.Expr:
            return exp.column("transaction_id", base).eq(exp.column("transaction_id", other))

        if columns and base == "ids":
            tree = tree.join(people, on=same("records"))
        if classes.parts or sums:
            tree = tree.join(held.subquery("held"), on=same("held"), join_type="left")
        if classes.parts:
            tree = tree.select(exp.column("signature", "held").as_("signature"))
        names: list[exp.Expr] = [exp.column(f"c{n}") for n in range(len(columns))]
        names += [exp.column("complete"), *([exp.column("signature")] if classes.parts else [])]
        keys = len(names)
        added: list[exp.Expr] = []
        for n, one in enumerate(sums):
            tree = tree.select(*one.columns(complete, n))
            names += one.grouped(n)
            added += one.aggregates(n)
        number = exp.Count(this=exp.Star()).as_("records")
        grouped = exp.select(*names, *added, number).from_(tree.subquery("shown"))
        rows = self.engine.select(grouped.group_by(*names).order_by(*names), "the published values of records")
        groups = []
        for row in tuples(rows):
            counts = classes.counts(row[keys - 1] if classes.parts else None)
            group = Group(counts, cells_of(attributes, row), bool(row[len(columns)]), int(row[-1]))
            groups.append(of_sums(group, row[keys : len(names)], row[len(names) : -1], sums))
        return groups

    @cached_property
    def supports(self) -> Mapping[str, int]:
        """The number of transactions of each released item."""
        if self.numbered is not None:
            return self.numbered.supports()
        rows = self.engine.select(reads.counted(self.rows, "item AS released_item", count="transactions"))
        return dict(zip(rows["released_item"].tolist(), rows["transactions"].tolist(), strict=True))

    @cached_property
    def listed_members(self) -> Members:
        """The members of all released items."""
        sizes = np.array(list(self.sizes.values()), dtype=np.int64)
        return Members(list(self.sizes), sizes, self.listed, self.images)

    @cached_property
    def is_laminar(self) -> bool:
        """Whether the released items form a laminar family (nested or disjoint), like the nodes of a taxonomy."""
        return not self.engine.scalar(reads.counted(self._overlaps(), where=exp.column("apart") > 0))

    def _overlaps(self) -> exp.Query:
        return load("query/overlaps").bind({"released_items": self.members}, {})

    @cached_property
    def ids(self) -> exp.Query:
        """The transactions, and whether items of each may be missing."""
        return exp.select("transaction_id", "complete").from_(self.schema.table("transaction_ids").expression())

    @cached_property
    def rows(self) -> Table | exp.Query:
        """The rows of the release; for bags, with distinguished variants."""
        stored = self.schema.table("transactions")
        if self.manifest["semantics"] == "set":
            return stored
        return self._once("query/bag_rows", {"transactions": stored, "overlapping": self._overlaps()})

    @cached_property
    def chains(self) -> Table | exp.Query:
        """The other released items for the members of each released item of bags."""
        return self._once("query/bag_chains", {"transactions": self.rows, "overlapping": self._overlaps()})

    def _once(self, name: str, tables: Mapping[str, Table | exp.Query]) -> Table | exp.Query:
        """A query to run once for this release until the connection closes, or on every use if that is not anondb's."""
        if not self.engine.owned:
            return load(name).bind(tables, {})
        place = f"{self.schema.catalog}.{self.schema.name}.{self.manifest['release_id']}"
        table = Table("temp", "main", f"_anondb_{name}.{place}")
        return table if self.engine.exists(table) else self.engine.create(table, load(name).bind(tables, {}))

    @cached_property
    def numbered(self) -> HeldItems | None:
        """The rows by the numbers of released items; None for bags and buckets."""
        if self.manifest["semantics"] != "set" or self.anatomy:
            return None
        return HeldItems(self.engine, self.schema, self.size, self.together)

    def held(self, classes: Classes, weights: Table | exp.Query | None = None) -> exp.Query:
        """The query for the signature of each transaction with a relevant released item.

        Args:
            classes: the classes of the signature.
            weights: a table (released_item, weight) with the codes of the classes and 0 for further released items, whose
                transactions are wanted, too; that of the codes alone by default.
        """
        transactions: Table | exp.Query = self.rows if self.numbered is None else self.numbered.query()
        if weights is None:
            columns = {"released_item": "VARCHAR" if self.numbered is None else "INTEGER", "weight": "BIGINT"}
            numbers = {} if self.numbered is None else self.numbered.numbers
            weights = inline_table(columns, [(numbers.get(label, label), n) for label, n in classes.codes().items()])
        tables = {"transactions": transactions, "weights": weights}
        return load("query/held_wide" if classes.wide else "query/held").bind(tables, {})

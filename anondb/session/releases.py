"""The releases that a session asks."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from sqlglot import exp

from anondb.engine.untrusted import materialized
from anondb.errors import InputError
from anondb.query import Answer, Plan, rewrite
from anondb.query.answer import answer_plan
from anondb.query.averages import average_in, average_over
from anondb.query.cached_release import Opened
from anondb.query.item_counts import ItemCounts, added
from anondb.query.merged import VALUES
from anondb.query.original import records_tables
from anondb.query.parsing import lowered
from anondb.query.plan import ITEMS, PAIRS
from anondb.query.predicates import Weights, finite
from anondb.query.quantiles import CONT, DISC
from anondb.query.refusals import unsupported
from anondb.query.relations import AttributeTerm, FlagTerm, IdTerm, ItemTerm, NumberTerm, SumTerm, TruthTerm, WrongForm
from anondb.query.rewriter import LISTED_NOTE, MISSING_NOTE, Reader, shown_forms
from anondb.query.variances import SPREADS
from anondb.session.asking import CHOSEN, with_chosen
from anondb.session.desk import Desk
from anondb.session.failing import failed
from anondb.session.kept import Kept
from anondb.session.keys import Key
from anondb.session.known import Known
from anondb.session.names import not_accepted
from anondb.session.parts import Parts
from anondb.session.result import fetched
from anondb.session.rows_of_persons import Bounds, Row
from anondb.session.unknown import unknown_items, with_members

MAX_CHOSEN = 2  # subqueries of items that counts choose, each with two cases
SHOWN = ("item_counts", "released_items", "released_values", "item_supports", "manifest", "buckets")
"""Objects of a sealed file whose rows may be read as they are."""

MAX_SPELLINGS = 100_000  # values of a column of the desk whose spelling is checked


def _together(aggregate: str, parts: Sequence[Bounds]) -> Bounds:
    """A count or a sum, the least or the greatest number of disjoint persons from those of each part.

    Raises:
        InputError: ``unsupported_query`` for a quantile or a variance.
    """
    if aggregate in (CONT, DISC, *SPREADS.values()):
        what = "a quantile" if aggregate in (CONT, DISC) else "a variance"
        raise unsupported(f"{what} over several files", "Ask each file.")
    how: Any = {"min": min, "max": max}.get(aggregate, sum)
    lower, estimate, upper = (None if None in ends else how(ends) for ends in zip(*parts, strict=True))
    return lower, estimate, upper


def _summed(aggregate: str, answers: Sequence[tuple[Sequence[Row], Bounds]]) -> list[Row]:
    """The groups of disjoint persons from the rows of each part, and the bounds of a group that a part does not list."""
    if not aggregate:
        return _counts_added(answers)
    parts = [({row[:-3]: row[-3:] for row in rows}, absent) for rows, absent in answers]
    keys = dict.fromkeys(key for rows, _ in parts for key in rows)
    return [(*key, *_together(aggregate, [rows.get(key, absent) for rows, absent in parts])) for key in keys]


def _counts_added(answers: Sequence[tuple[Sequence[Row], Bounds]]) -> list[Row]:
    """``_summed`` for counts: there may be many; only their upper ends may be None, or above 0 where none is listed."""
    counts = [(rows, int(absent or 0)) for rows, (_, _, absent) in answers if isinstance(rows, ItemCounts)]
    if len(counts) == len(answers):
        return [*added(counts)]
    totals: dict[Row, Row] = {}
    elsewhere = sum(absent or 0 for _, (_, _, absent) in answers)
    for rows, (_, _, absent) in answers:
        for row in rows:
            key, (lower, estimate, upper) = row[:-3], row[-3:]
            low, middle, high = totals.get(key, (0, 0.0, elsewhere))
            most = None if upper is None or high is None else high + upper - (absent or 0)
            totals[key] = low + lower, middle + estimate, most
    return [(*key, *bounds) for key, bounds in totals.items()]


class Releases:
    """The releases of a session: their counts add up, so they must be of disjoint persons (``rows_of_persons.Counts``).

    Args:
        releases: the releases, of tables with equal names and columns.
        desk: where rows are put.
        parts: the column that divides them, if there is one.
    """

    def __init__(self, releases: Sequence[Opened], desk: Desk, parts: Parts | None = None) -> None:
        self._opened, self._parts = releases, parts
        for release in releases:
            release.original.divided = {} if parts is None else {parts.column: parts.kind}
        self._originals = list({release.original.shape: release.original for release in self._opened}.values())
        self._desk = desk
        self.manifest = self._opened[0].manifest
        self.attributes = self._opened[0].attributes
        self.forms: frozenset[str] = frozenset()
        self.notes: dict[str, None] = {}
        self._written: frozenset[str] = frozenset()
        self._of_kinds: set[str] = set()
        self._of_answers: set[frozenset[str]] = set()
        self.weights: dict[int, Weights] = {}
        self._groups: list[list[tuple[Any, exp.Expr, str]]] = []
        self._answers: Kept[Answer] = Kept(lambda answer: len(answer.rows))
        self._sums: Kept[list[Row]] = Kept(len)

    @property
    def shapes(self) -> list[tuple[str, Mapping[str, str]]]:
        """The names and columns of the tables of persons."""
        return self._opened[0].original.tables()

    @property
    def persons(self) -> str:
        """The name of the table of persons and their items, in lower case."""
        return lowered(self.manifest["table"])

    @property
    def persons_tables(self) -> dict[str, dict[str, bool]]:
        """The tables of persons in lower case, with their columns and whether each is the id."""
        id_column = lowered(self.manifest["id_column"])
        return {
            lowered(name): {
                c: lowered(c) == ("transaction_id" if lowered(name) == "baskets" else id_column) for c in of
            }
            for name, of in self.shapes
        }

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""
        return any(release.suppressed for release in self._opened)

    def start(self) -> dict[str, None]:
        """Begin a query; returns its notes, which grow while it is answered."""
        self.notes = {}
        self.weights = {}
        self._of_kinds, self._of_answers = set(), set()
        return self.notes

    @property
    def settled(self) -> bool:
        """Whether all that was said since ``start`` is so for the forms of the table that are possible by now."""
        return self._of_kinds <= self.forms and all(forms == self.forms for forms in self._of_answers)

    def bind(self, tree: exp.Expr) -> list[tuple[str, str]]:
        """Have DuckDB bind a query to the original's tables, the analyst's, and the objects of the release that it names.

        Returns:
            The names and types of its columns.

        Raises:
            InputError: ``bad_sql`` or ``ambiguous_item``.
        """
        self._written = frozenset(literal.name for literal in tree.find_all(exp.Literal))
        for table in tree.find_all(exp.Table):
            self.table(table)
        sql = tree.sql("duckdb")
        bound = [original.accepted(sql, self._desk.shapes) for original in self._originals]
        self.forms = frozenset(bound[0]).intersection(*bound)
        if not self.forms:
            raise not_accepted(tree, (*self.shapes, *self._desk.shapes))
        return next(bound[0][form] for form in bound[0] if form in self.forms)

    def unqualified(self, tree: exp.Expr) -> exp.Expr:
        """A query in which a table of persons with another schema or database in its name has its name alone.

        So has another table with the schema ``main``, which tools write before every name.
        """
        names = {lowered(name) for name, _ in self.shapes}
        for table in tree.find_all(exp.Table):
            if lowered(table.db) == "main" and not table.catalog and lowered(table.name) not in names:
                table.set("db", None)
            if (
                table.db
                and lowered(".".join(p.name for p in table.parts)) not in names
                and lowered(table.name) in names
            ):
                table.set("db", None)
                table.set("catalog", None)
        return tree

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""
        dotted = ".".join(lowered(part.name) for part in table.parts)
        if dotted == lowered(self.manifest["table"]) or (
            dotted in records_tables(self.manifest) and self.attributes is not None
        ):
            return lowered(self.manifest["id_column"])
        return "transaction_id" if dotted == "baskets" else None

    def kind(self, tree: exp.Select, node: exp.Expr) -> Key | None:
        """What a column of the FROM clause is; None if it is nothing to group by."""
        if self._parts is not None:
            if self._parts.is_column(node, tree, self.persons):
                return Key("part", self._parts.kind)
            with contextlib.suppress(InputError):
                tree, _ = self._parts.split(tree, self.persons)
        for form in sorted(self.forms, reverse=True):
            table, id_column, item_column = (self.manifest[k] for k in ("table", "id_column", "item_column"))
            reader = Reader(table, id_column, item_column, form, self.attributes)
            reader.weights, reader.records = self.weights, records_tables(self.manifest)
            try:
                term = reader.column_of(tree, node)
            except (InputError, WrongForm):
                continue
            for kind, what, of in (
                (IdTerm, "id", "BIGINT"),
                (ItemTerm, "item", "VARCHAR"),
                (TruthTerm, "condition", "BOOLEAN"),
                (FlagTerm, "flag", "INTEGER"),
                (NumberTerm, "number", "BIGINT"),
                (SumTerm, "number", "BIGINT"),
            ):
                if isinstance(term, kind) and not (isinstance(term, SumTerm) and term.weights.kind != VALUES):
                    self._of_kinds.add(form)
                    more = isinstance(term, ItemTerm) or (isinstance(term, NumberTerm) and finite(term.test) is None)
                    return Key(what, of, open=more and self.suppressed)
            if isinstance(term, AttributeTerm):
                self._of_kinds.add(form)
                return Key("attribute", term.attribute.ends or "VARCHAR", term.attribute.name)
        return None

    def answer(self, tree: exp.Select) -> Sequence[Row]:
        """The groups of a query with one count; counts of several releases are added up.

        Where counts choose items (``asking.CHOSEN``), a count lies between those for the fewest and for the most of them.
        """
        marked = [node for node in tree.find_all(exp.In) if CHOSEN in node.meta]
        if not marked:
            return self._answer(tree)
        if (
            len(marked) > MAX_CHOSEN
            or not isinstance(tree.expressions[-1], exp.Count)
            or tree.args.get("limit") is not None
        ):
            raise unsupported("IN with a subquery of estimates, in this query")
        likely = {row[:-3]: row[-3:] for row in self._answer(with_chosen(tree, [1] * len(marked)))}
        corners = [
            {row[:-3]: row[-3:] for row in self._answer(with_chosen(tree, choice))}
            for choice in product((0, None), repeat=len(marked))
        ]
        rows: list[Row] = []
        for key in dict.fromkeys(key for answers in corners for key in answers):
            bounds = [answers.get(key, (0, 0.0, 0)) for answers in corners]
            lower, upper = min(low for low, _, _ in bounds), [high for _, _, high in bounds]
            most = None if None in upper else max(upper)
            estimate = max(likely.get(key, (0, 0.0, 0))[1], lower)
            rows.append((*key, lower, estimate if most is None else min(estimate, most), most))
        return rows

    def _answer(self, tree: exp.Select) -> Sequence[Row]:
        if self._parts is None:
            return self._added(tree, self._opened)
        tree, places = self._parts.split(tree, self.persons)
        if not places:
            none = (0, 0.0, 0) if isinstance(tree.expressions[-1], exp.Count) else (None, None, None)
            return [] if tree.args.get("group") else [none]
        return self._added(tree, [self._opened[place] for place in places])

    def _added(self, tree: exp.Select, releases: Sequence[Opened]) -> Sequence[Row]:
        """The groups of a query with one count, over some of the releases."""
        if len(self.forms) > 1:
            self.forms = shown_forms(tree, self.manifest, self.forms, self.weights)
        self._of_answers.add(self.forms)
        answered, averages = [], []
        if len(releases) > 1 and tree.args.get("limit") is not None:  # the largest of a sum may be small in each part
            tree = tree.copy()
            tree.set("order", None)
            tree.set("limit", None)
        plan: Plan | None = None
        plans: list[Plan] = []
        releases[0].together.asked = [release.schema for release in releases]
        for release in releases:
            if plan is None or release.attributes is not None:  # without attributes it is the same for all
                planned = partial(rewrite, manifest=release.manifest, attributes=release.attributes)
                planned = partial(planned, forms=self.forms, weights=self.weights)
                plan = planned(tree)
            asked = with_members(release, plan, tree, self._written, planned)
            if plan.aggregate == "avg" and len(releases) > 1:
                averages.append(average_in(release, asked))
                self.notes.update(dict.fromkeys([*plan.notes, *unknown_items(release, plan, self._written)]))
                continue
            answer = self._answers.get((release, asked), partial(answer_plan, release, asked, unbounded=True))
            missing = {LISTED_NOTE: MISSING_NOTE} if any(one.suppressed for one in releases) else {}
            notes = [missing.get(note, note) for note in answer.notes]  # the plan may be of a file without suppression
            self.notes.update(dict.fromkeys([*notes, *unknown_items(release, plan, self._written)]))
            if len(releases) == 1:
                return answer.rows
            plans.append(asked)
            listing = plan.counts in (ITEMS, PAIRS) or plan.counts_any
            hidden = release.size if listing and release.suppressed else 0
            answered.append((answer.rows, (0, 0.0, hidden)))
        if averages:
            return [average_over(averages)]
        assert plan is not None
        if releases[0].attributes is not None:
            return _summed(plan.aggregate, answered)
        key = tuple(plans), tuple(map(id, releases))
        return self._sums.get(key, partial(_summed, plan.aggregate, answered))

    def parts(self, key: exp.Expr) -> list[tuple[Any, exp.Expr]]:
        """The values of the column that divides the files."""
        assert self._parts is not None
        self.notes.update(self._parts.notes)
        return [*self._parts.groups(key)]

    def weigh(self, weights: Weights) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        self.weights[len(self.weights)] = weights
        return len(self.weights) - 1

    def group(self, values: list[tuple[Any, exp.Expr, str]]) -> int:
        """Keep values with the conditions that an item has them, and the SQL type; returns the number of the list."""
        self._groups.append(values)
        return len(self._groups) - 1

    def grouped(self, number: int) -> list[tuple[Any, exp.Expr, str]]:
        """The values that were kept."""
        return self._groups[number]

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""
        return sorted({item for release in self._opened for item in release.images})

    @property
    def may_hold_others(self) -> bool:
        """Whether a person may have an item that is not listed: items were suppressed, or may be spelled otherwise."""
        return self.suppressed or self.ambiguous

    def may_hold(self, item: str) -> bool:
        """Whether a person may have an item with this label."""
        return self.may_hold_others or any(item in release.images for release in self._opened)

    def rows(self, tree: exp.Query) -> list[Row]:
        """Run a query on the desk."""
        return fetched(materialized(self._desk.engine, tree, failed))

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows on the desk."""
        return self._desk.put(keys, rows, width)

    def put_listed(self, kind: str, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer with one key on the desk."""
        return self._desk.put_listed(kind, rows, width)

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""
        return self._desk.is_aggregate(name)

    @property
    def objects(self) -> list[str]:
        """The names of the objects of a single release whose rows may be read."""
        release = self._opened[0]
        listed = SHOWN if len(self._opened) == 1 else ()
        return [name for name in listed if release.engine.exists(release.schema.table(name))]

    def table(self, node: exp.Table) -> Known | None:
        """The rows of a table of the analyst, or of an object of a single release."""
        known = self._desk.table(node)
        if known is not None and self.ambiguous:
            return self._spelled(node.name, known)
        if known is not None or node.db or lowered(node.name) not in SHOWN or len(self._opened) > 1:
            return known
        release = self._opened[0]
        stored = release.schema.table(lowered(node.name))
        if not release.engine.exists(stored):
            return None
        columns = release.engine.select(exp.select("*").from_(stored.expression()), "an object of the release")
        with self._desk.engine.registered(columns) as source:
            self._desk.engine.create(Desk.place(node.name), exp.select("*").from_(source.expression()))
        self._desk.add(node.name, Desk.place(node.name))
        return self.table(node)

    @property
    def ambiguous(self) -> bool:
        """Whether the items may be texts or of another type."""
        return all(release.original.kinds for release in self._opened)

    def plain(self, labels: frozenset[str]) -> bool:
        """Whether texts are spelled as items of every possible type are."""
        try:
            for release in self._opened:
                release.original.check_labels(labels)
        except InputError:
            return False
        return True

    def _spelled(self, name: str, known: Known) -> Known:
        """A table of the desk, with the columns marked that are spelled as items are."""
        marks = self._desk.plain.get(lowered(name))
        if marks is None:
            source = exp.Subquery(this=known.tree, alias=exp.TableAlias(this=exp.to_identifier("t")))
            marks = []
            for n in range(len(known.columns)):
                text = exp.cast(exp.column(f"c{n}", "t"), "VARCHAR")
                listed = exp.select(text).distinct().from_(source).limit(MAX_SPELLINGS + 1)
                labels = [label for (label,) in self.rows(listed) if label is not None]
                marks.append(len(labels) <= MAX_SPELLINGS and self.plain(frozenset(labels)))
            self._desk.plain[lowered(name)] = marks
        return replace(known, columns=tuple(replace(c, plain=p) for c, p in zip(known.columns, marks, strict=True)))

"""The releases that a session asks, and the desk where known rows lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from sqlglot import exp

from anondb.engine import DuckDBEngine, Table
from anondb.engine.untrusted import materialized
from anondb.errors import InputError
from anondb.query import Answer, OpenRelease, Plan, rewrite
from anondb.query.answer import answer_plan
from anondb.query.averages import average_in, average_over
from anondb.query.original import records_tables
from anondb.query.parsing import lowered
from anondb.query.plan import ITEMS
from anondb.query.predicates import Weights
from anondb.query.quantiles import CONT, DISC
from anondb.query.refusals import unsupported
from anondb.query.relations import AttributeTerm, FlagTerm, IdTerm, ItemTerm, NumberTerm, TruthTerm, WrongForm
from anondb.query.rewriter import Reader, shown_forms
from anondb.query.variances import SPREADS
from anondb.session.kept import Kept
from anondb.session.keys import Key
from anondb.session.known import LIKELY, SURE, Known, described, fresh, projected
from anondb.session.names import not_accepted
from anondb.session.persons import CHOSEN
from anondb.session.result import fetched
from anondb.session.rows_of_persons import Bounds, Row
from anondb.session.unknown import unknown_items, with_members
from anondb.session.values import Value

MAX_CHOSEN = 2  # subqueries of items that counts choose, each with two cases
SHOWN = ("item_counts", "released_items", "released_values", "item_supports", "manifest", "buckets")
"""Objects of a sealed file whose rows may be read as they are."""

MAX_SPELLINGS = 100_000  # values of a column of the desk whose spelling is checked


class Desk:
    """The session's own database in memory: the analyst's tables, and the rows that a query is computed from."""

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine
        self._columns: dict[str, tuple[str, dict[str, str]]] = {}
        self.plain: dict[str, list[bool]] = {}
        self._temporary: list[Table] = []

    @property
    def shapes(self) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The names and columns of the analyst's tables."""
        return tuple(self._columns.values())

    def add(self, name: str, table: Table) -> None:
        """List a table of the desk under a name."""
        described = self.engine.relation(exp.select("*").from_(table.expression()))
        self._columns[lowered(name)] = name, dict(zip(described.columns, map(str, described.types), strict=True))

    def remove(self, name: str) -> None:
        """Remove a table of the analyst."""
        self.plain.pop(lowered(name), None)
        self._columns.pop(lowered(name), None)

    def table(self, node: exp.Table) -> Known | None:
        """The rows of a table of the analyst; None if there is none of this name."""
        if node.db or lowered(node.name) not in self._columns:
            return None
        name, columns = self._columns[lowered(node.name)]
        values = [Value(exp.column(exp.to_identifier(c, quoted=True))) for c in columns]
        tree = exp.select(*projected(values)).from_(self.place(name).expression())
        return Known(tree, described(list(columns), values))

    @staticmethod
    def place(name: str) -> Table:
        """Where a table of the analyst lies, apart from the rows of queries."""
        return Table("memory", "main", f"table {lowered(name)}")

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows on the desk until ``sweep``; see ``rows_of_persons.Counts.put``."""
        counts = list(rows.values())
        if not keys:
            return exp.select(*(_literal(v).as_(n) for n, v in zip(_names(0, width), _flat(counts[0]), strict=True)))
        columns: dict[str, tuple[str, Iterable[Any]]] = {
            f"c{n}": (kind, [row[n] for row in rows]) for n, kind in enumerate(keys)
        }
        for n in range(width):
            for end, place in (("_l", 0), ("", 1), ("_u", 2)):
                numbers = [count[n][place] for count in counts]
                kind = "BIGINT" if end and set(map(type, numbers)) <= {int} else "DOUBLE"
                columns[f"c{len(keys) + n}{end}"] = kind, numbers
        some = [count[-1] for count in counts]
        columns[SURE] = "BOOLEAN", [(lower or 0) >= 1 for lower, _, _ in some]
        columns[LIKELY] = "BOOLEAN", [(estimate or 0) >= 0.5 for _, estimate, _ in some]
        table = self.engine.put(Table("memory", "main", fresh("facts")), columns)
        self._temporary.append(table)
        return exp.select(*(exp.column(name) for name in columns)).from_(table.expression())

    def sweep(self) -> None:
        """Drop the rows of a query."""
        if self._temporary:
            self.engine.drop(*self._temporary)
            self._temporary.clear()


def _with_chosen(tree: exp.Select, choice: Sequence[int | None]) -> exp.Select:
    """A query with the certain (0), the probable (1) or all possible values (None) of each IN whose values counts choose."""
    made = tree.copy()
    for node, which in zip([n for n in made.find_all(exp.In) if CHOSEN in n.meta], choice, strict=True):
        values = [e.name for e in node.expressions] if which is None else node.meta[CHOSEN][which]
        listed = exp.In(this=node.this.copy(), expressions=[exp.Literal.string(value) for value in values])
        node.replace(listed if values else exp.false())
    return made


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


def _names(first: int, width: int) -> list[str]:
    return [f"c{n}{end}" for n in range(first, first + width) for end in ("_l", "", "_u")]


def _flat(counts: Sequence[Bounds]) -> list[float | None]:
    return [value for bounds in counts for value in bounds]


def _literal(value: float | None) -> exp.Expr:
    if value is None:
        return exp.cast(exp.null(), "DOUBLE")
    return exp.cast(exp.convert(value), "BIGINT" if isinstance(value, int) else "DOUBLE")


class Releases:
    """The releases of a session: their counts add up, so they must be of disjoint persons (``rows_of_persons.Counts``).

    Args:
        releases: the releases, of tables with equal names and columns.
        desk: where rows are put.
    """

    def __init__(self, releases: Sequence[OpenRelease], desk: Desk) -> None:
        self._opened = [release.current(lambda opened: opened) for release in releases]
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
        self._groups: list[list[tuple[Any, frozenset[str], str]]] = []
        self._answers: Kept[Answer] = Kept(lambda answer: len(answer.rows))

    @property
    def shapes(self) -> list[tuple[str, Mapping[str, str]]]:
        """The names and columns of the tables of persons."""
        return self._opened[0].original.tables()

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
                (TruthTerm | FlagTerm, "condition", "BOOLEAN"),
                (NumberTerm, "number", "BIGINT"),
            ):
                if isinstance(term, kind):
                    self._of_kinds.add(form)
                    return Key(what, of)
            if isinstance(term, AttributeTerm):
                self._of_kinds.add(form)
                return Key("attribute", term.attribute.ends or "VARCHAR", term.attribute.name)
        return None

    def answer(self, tree: exp.Select) -> list[Row]:
        """The groups of a query with one count; counts of several releases are added up.

        Where counts choose items (``persons.CHOSEN``), a count lies between those for the fewest and for the most of them.
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
        likely = {row[:-3]: row[-3:] for row in self._answer(_with_chosen(tree, [1] * len(marked)))}
        corners = [
            {row[:-3]: row[-3:] for row in self._answer(_with_chosen(tree, choice))}
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

    def _answer(self, tree: exp.Select) -> list[Row]:
        if len(self.forms) > 1:
            self.forms = shown_forms(tree, self.manifest, self.forms, self.weights)
        self._of_answers.add(self.forms)
        answered, averages = [], []
        if len(self._opened) > 1 and tree.args.get("limit") is not None:  # the largest of a sum may be small in each
            tree = tree.copy()
            tree.set("order", None)
            tree.set("limit", None)
        plan: Plan | None = None
        for release in self._opened:
            if plan is None or release.attributes is not None:  # without attributes it is the same for all
                planned = partial(rewrite, manifest=release.manifest, attributes=release.attributes)
                planned = partial(planned, forms=self.forms, weights=self.weights)
                plan = planned(tree)
            asked = with_members(release, plan, tree, self._written, planned)
            if plan.aggregate == "avg" and len(self._opened) > 1:
                averages.append(average_in(release, asked))
                self.notes.update(dict.fromkeys([*plan.notes, *unknown_items(release, plan, self._written)]))
                continue
            answer = self._answers.get((release, asked), partial(answer_plan, release, asked, unbounded=True))
            self.notes.update(dict.fromkeys([*answer.notes, *unknown_items(release, plan, self._written)]))
            if len(self._opened) == 1:
                return list(answer.rows)
            answered.append((release, plan.counts == ITEMS, {row[:-3]: row[-3:] for row in answer.rows}))
        if averages:
            return [average_over(averages)]
        aggregate = "" if plan is None else plan.aggregate
        total: list[Row] = []
        for key in dict.fromkeys(key for _, _, rows in answered for key in rows):
            counts = []
            for release, of_items, rows in answered:
                absent = (0, 0.0, release.size if of_items and release.suppressed else 0)
                counts.append(rows.get(key, absent))
            total.append((*key, *_together(aggregate, counts)))
        return total

    def weigh(self, weights: Weights) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        self.weights[len(self.weights)] = weights
        return len(self.weights) - 1

    def group(self, values: list[tuple[Any, frozenset[str], str]]) -> int:
        """Keep values with the items that have them, and the SQL type; returns the number of the list."""
        self._groups.append(values)
        return len(self._groups) - 1

    def grouped(self, number: int) -> list[tuple[Any, frozenset[str], str]]:
        """The values that were kept."""
        return self._groups[number]

    def rows(self, tree: exp.Query) -> list[Row]:
        """Run a query on the desk."""
        return fetched(materialized(self._desk.engine, tree))

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows on the desk."""
        return self._desk.put(keys, rows, width)

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

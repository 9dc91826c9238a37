"""Answering a COUNT query from a release: the steps in order, and the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.engine import Columns, Engine, Table, load
from anondb.errors import AnondbError, EngineError, InputError
from anondb.query.evaluate import Evaluator, Outcome, Part, Passed, Question, released_part, suppressed_part
from anondb.query.plan import ITEMS, ROWS, Plan
from anondb.query.predicates import ALWAYS, NO_ITEM, ItemTest, Labels, item_sql, leaves, mentioned
from anondb.query.refusals import unsupported
from anondb.query.rewriter import rewrite
from anondb.release.objects import SchemaName

BOUNDS = ("lower_bound", "estimate", "upper_bound")
MAX_BITS = 62
_NAMED = exp.CountIf(this=exp.column("named")).as_("named")
_CASTABLE = re.compile(r"[0-9]|^\s*(t|f|true|false|y|n|yes|no)\s*$", re.IGNORECASE)
"""Texts that DuckDB may cast to a number, boolean, date or UUID."""
_NEEDED = frozenset({"transactions", "semantics", "suppression", "table", "id_column", "item_column"})
Bounds = tuple[int, float, int]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a COUNT query.

    Attributes:
        columns: names of the group columns, empty without GROUP BY.
        rows: the groups, each with its values, then lower bound, estimate and upper bound of the count.
        notes: what the analyst should know about the reading.
        predicate: what was counted, in words close to SQL, with the analyst's own literals.
        name: what the count is called in the query, ``count`` without an alias.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    predicate: str
    name: str = "count"

    @property
    def bounds(self) -> Bounds:
        """Lower bound, estimate and upper bound of a query without GROUP BY."""
        ((lower, estimate, upper),) = self.rows
        return lower, estimate, upper

    def to_json(self) -> dict[str, Any]:
        """The answer as values that JSON has."""
        return {
            "count": self.name,
            "columns": [*self.columns, *BOUNDS],
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "predicate": self.predicate,
        }


@dataclass(frozen=True)
class _Block:
    """A released item that a question looks at: its size, and how many members pass which tests, at least one."""

    size: int
    passing: tuple[tuple[Passed, int], ...]


@dataclass(frozen=True)
class _Classes:
    """Released items that behave alike, and how a signature counts them.

    Attributes:
        of: the class of each released item that is not of the default class.
        parts: the part that one released item of each class adds.
        default: the class of all other released items, or None where these do not matter.
        radices: one more than the number of released items, for each class.
        wide: whether signatures are texts, because the number would not fit.
    """

    of: Mapping[str, int]
    parts: Sequence[Part]
    default: int | None
    radices: Sequence[int]
    wide: bool

    def weights(self) -> list[int]:
        """What each class adds to a signature."""
        if self.wide:
            return list(range(len(self.radices)))
        found, place = [], 1
        for radix in self.radices:
            found.append(place)
            place *= radix
        return found

    def counts(self, signature: Any) -> tuple[int, ...]:
        """How many released items of each class a signature stands for."""
        found = [0] * len(self.radices)
        if self.wide:
            for code in str(signature).split(","):
                found[int(code)] += 1
        else:
            rest = int(signature)
            for number, radix in enumerate(self.radices):
                rest, found[number] = divmod(rest, radix)
        return tuple(found)


class _Release:
    """One release while a query is answered from it: its tables, and what its manifest says."""

    def __init__(self, engine: Engine, schema: SchemaName) -> None:
        self.engine = engine
        try:
            found = engine.query(
                "query/manifest",
                {name: schema.table(name) for name in ("manifest", "released_items", "transaction_ids")},
            )
        except AnondbError:
            found = {}
        self.manifest = dict(zip(found["key"].tolist(), found["value"].tolist(), strict=True)) if found else {}
        if not self.manifest.keys() >= _NEEDED:
            raise InputError("There is no release here.", code="not_a_release", hint="Name a sealed file.")
        if self.manifest["semantics"] != "set":
            raise unsupported("a release of bags", "Ask count_bounds of the release.")
        self.local = self.manifest[""] != "0" or self.manifest.get("model") == "k"
        self.transactions = schema.table("transactions")
        self.members = schema.table("released_items")
        self.size = int(self.manifest["transactions"])
        self.suppressed = self.manifest["suppression"] != "none"
        if self.local and self.suppressed:  # what may be missing differs from transaction to transaction
            raise unsupported("a release of a local recoding with suppressed items", "Ask count_bounds of the release.")

    # ---------------------------------------------------------------- items

    def blocks(
        self, tests: Sequence[ItemTest], labels: frozenset[str]
    ) -> tuple[dict[str, _Block], dict[str, int], bool]:
        """The released items of which a member passes a test, the sizes of all, and whether all labels are members."""
        column = exp.column("item", table="members")
        inner = exp.select(
            exp.column("released_item", table="members"),
            *(item_sql(t, column).as_(f"test_{n}") for n, t in enumerate(tests)),
            item_sql(Labels(labels), column).as_("named"),
            copy=False,
        ).from_(_aliased(self.members, "members"))
        keys = ["released_item", *(f"test_{n}" for n in range(len(tests)))]
        tree = (
            exp.select(*keys, exp.Count(this=exp.Star()).as_("members"), _NAMED.copy(), copy=False)
            .from_(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("tested"))), copy=False)
            .group_by(*keys)
            .order_by(*keys)
        )
        found = self._select(tree)
        sizes: dict[str, int] = {}
        passing: dict[str, list[tuple[Passed, int]]] = {}
        passed = zip(*(found[f"test_{n}"].tolist() for n in range(len(tests))), strict=True) if tests else None
        for released, members in zip(found["released_item"].tolist(), found["members"].tolist(), strict=True):
            sizes[released] = sizes.get(released, 0) + members
            which = tuple(bool(p) for p in next(passed)) if passed is not None else ()
            if any(which):
                passing.setdefault(released, []).append((which, members))
        known = not self.local and int(found["named"].sum()) == len(labels)  # else an item may be counted twice
        return {r: _Block(sizes[r], tuple(p)) for r, p in passing.items()}, sizes, known

    def listed(self, tests: Sequence[ItemTest]) -> list[tuple[str, str, Passed]]:
        """Released item, original item and the tests that it passes, for every item that passes the first test."""
        column = exp.column("item", table="members")
        tree = (
            exp.select(
                exp.column("released_item", table="members"),
                column,
                *(item_sql(t, column).as_(f"test_{n}") for n, t in enumerate(tests[1:])),
                copy=False,
            )
            .from_(_aliased(self.members, "members"))
            .where(item_sql(tests[0], column))
            .order_by("item")
        )
        found = self._select(tree)
        columns = [found[f"test_{n}"].tolist() for n in range(len(tests) - 1)]
        flags = zip(*columns, strict=True) if columns else ((),) * len(found["item"])
        return [
            (r, i, tuple(bool(f) for f in which))
            for r, i, which in zip(found["released_item"].tolist(), found["item"].tolist(), flags, strict=True)
        ]

    def unknown(self, labels: frozenset[str], tests: Sequence[ItemTest]) -> list[Passed]:
        """For each of the labels that no released item stands for: the tests that it passes."""
        if not labels:
            return []
        column = exp.column("label", table="asked")
        known = (
            exp.select(exp.Literal.number(1))
            .from_(_aliased(self.members, "members"))
            .where(exp.column("item", table="members").eq(column))
        )
        tree = (
            exp.select(column, *(item_sql(t, column).as_(f"test_{n}") for n, t in enumerate(tests)), copy=False)
            .from_(_texts(labels), copy=False)
            .where(exp.Not(this=exp.Exists(this=known)))
            .order_by("label")
        )
        found = self._select(tree)
        missing = found["label"].tolist()
        doubtful = [label for label in missing if _CASTABLE.search(label)]
        if doubtful and int(self._asked("query/other_writings", doubtful)):
            raise InputError(
                "A literal may be another writing of an item that the release has.",
                code="ambiguous_item",
                hint="Write items as the release does.",
            )
        columns = [found[f"test_{n}"].tolist() for n in range(len(tests))]
        return [tuple(bool(c[i]) for c in columns) for i in range(len(missing))]

    def check_numbers(self, numbers: frozenset[str]) -> None:
        """Refuse a number that the release has in several writings (``5`` and ``05``): which one is meant is open."""
        if numbers and int(self._asked("query/other_numbers", sorted(numbers))):
            raise InputError(
                "An item is written as a number, and the release has it in another writing.",
                code="ambiguous_item",
                hint="Write items as texts.",
            )

    def _asked(self, name: str, labels: Sequence[str]) -> Any:
        asked = exp.select("label").from_(_texts(labels), copy=False)
        return self.engine.scalar(name, {"released_items": self.members, "asked": asked})

    def _select(self, tree: exp.Query) -> Columns:
        try:
            return self.engine.select(tree, "the items of the query")
        except EngineError as error:
            if error.code == "refused":
                raise unsupported("a pattern that DuckDB refuses", "Check its escapes.") from None
            raise

    # ---------------------------------------------------------------- transactions

    def classes(self, question: Question, blocks: Mapping[str, _Block], sizes: Mapping[str, int]) -> _Classes:
        """Released items grouped by what they add: those that always add the same, and those alike in their members."""
        numbers: dict[object, int] = {}
        parts: list[Part] = []
        of: dict[str, int] = {}
        for released, block in blocks.items():
            part = numbers.get(block)
            if part is None:
                made = released_part(question.caps, block.size, block.passing)
                part = numbers.setdefault(made if made.fixed else block, len(parts))
                numbers[block] = part
                if part == len(parts):
                    parts.append(made)
            of[released] = part
        radices = [1] * len(parts)
        for part in of.values():
            radices[part] += 1
        product = 1
        for radix in radices:
            product *= radix
        wide = product >= 1 << MAX_BITS
        default = None
        if len(of) == len(sizes) and of and not wide:
            default = max(range(len(parts)), key=lambda n: radices[n])
            of = {r: n for r, n in of.items() if n != default}
        return _Classes(of, parts, default, radices, wide)

    def held(self, classes: _Classes) -> exp.Query:
        """The query for the signature of each transaction that has a released item that matters."""
        weights = classes.weights()
        rows = [(r, weights[n]) for r, n in sorted(classes.of.items())]
        tables: dict[str, Table | exp.Query] = {"transactions": self.transactions, "weights": _weights(rows)}
        if classes.default is not None:
            return load("query/held_by_default").bind(tables, {"weight": weights[classes.default]})
        name = "held_wide" if classes.wide else "held_one" if len(rows) == 1 else "held"
        return load(f"query/{name}").bind(tables, {})


def _aliased(table: Table, name: str) -> exp.Expr:
    return exp.alias_(table.expression(), name, table=True, copy=False)


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _values(rows: Sequence[Sequence[exp.Expr]], columns: Sequence[str]) -> exp.Values:
    return exp.Values(
        expressions=[exp.Tuple(expressions=list(row)) for row in rows],
        alias=exp.TableAlias(this=exp.to_identifier("asked"), columns=[exp.to_identifier(c) for c in columns]),
    )


def _texts(labels: Sequence[str] | frozenset[str]) -> exp.Values:
    return _values([(_text(label),) for label in sorted(labels)], ["label"])


def _weights(rows: Sequence[tuple[str, int]]) -> exp.Query:
    """The rows as a query; one without rows if there are none."""
    values = _values(
        [(_text(r), exp.cast(exp.Literal.number(w), "BIGINT")) for r, w in rows or [("", 0)]],
        ["released_item", "weight"],
    )
    tree = exp.select("released_item", "weight").from_(values, copy=False)
    return tree if rows else tree.where(exp.false())


def _clip(lower: int, estimate: float, upper: int) -> Bounds:
    return lower, min(max(float(estimate), float(lower)), float(upper)), upper


def _sum(outcomes: Sequence[tuple[Outcome, int]]) -> Bounds:
    return _clip(
        sum(o.least * n for o, n in outcomes),
        float(np.sum(np.array([o.expected * n for o, n in outcomes], dtype=np.float64))) if outcomes else 0.0,
        sum(o.greatest * n for o, n in outcomes),
    )


def _labels(plan: Plan) -> frozenset[str]:
    tests = [leaf.test for leaf in leaves(plan.condition) if hasattr(leaf, "test")]
    return frozenset().union(*(mentioned(t) for t in tests), mentioned(plan.test) if plan.test else frozenset())


def _scalar(release: _Release, plan: Plan) -> Bounds:
    """A single number: persons, or items of persons."""
    counted = plan.test if plan.counts == ROWS else None
    question = Question.of(plan.condition, counted)
    if not question.tests:
        return _clip(*(release.size if plan.condition == ALWAYS else 0,) * 3)
    labels = _labels(plan)
    blocks, sizes, known = release.blocks(question.tests, labels)
    outside = _outside(release, question, frozenset() if known else labels)
    if counted is not None and plan.condition == ALWAYS:
        return _occurrences(release, question, blocks, outside)
    classes = release.classes(question, blocks, sizes)
    evaluator = Evaluator(question)
    outcomes: list[tuple[Outcome, int]] = []
    if classes.parts:
        found = release.engine.query("query/signatures", {"held": release.held(classes)})
        for signature, transactions in zip(found["signature"].tolist(), found["transactions"].tolist(), strict=True):
            outcomes.append((evaluator.outcome(_chosen(classes, classes.counts(signature)) + outside), transactions))
    rest = release.size - sum(n for _, n in outcomes)
    if rest:
        outcomes.append((evaluator.outcome(outside), rest))
    return _sum(outcomes)


def _outside(release: _Release, question: Question, labels: frozenset[str]) -> list[Part]:
    """What suppressed items may add."""
    unknown = release.unknown(labels, question.tests)
    if not release.suppressed:
        return []
    part = suppressed_part(question, [p for p in unknown if any(p)])
    return [part] if not part.fixed else []


def _chosen(classes: _Classes, counts: Sequence[int]) -> list[Part]:
    """The parts of a transaction; what always adds the same comes first, since it decides most."""
    order = sorted(range(len(counts)), key=lambda n: not classes.parts[n].fixed)
    return [classes.parts[n] for n in order for _ in range(counts[n])]


def _occurrences(
    release: _Release, question: Question, blocks: Mapping[str, _Block], outside: Sequence[Part]
) -> Bounds:
    """Items of all persons: released items add up, whichever transactions they are in."""
    evaluator = Evaluator(question)
    found = release.engine.query("query/supports", {"transactions": release.transactions})
    outcomes: list[tuple[Outcome, int]] = []
    known: dict[_Block, Outcome] = {}
    for released, transactions in zip(found["released_item"].tolist(), found["transactions"].tolist(), strict=True):
        block = blocks.get(released)
        if block is not None:
            if block not in known:
                known[block] = evaluator.outcome([released_part(question.caps, block.size, block.passing)])
            outcomes.append((known[block], transactions))
    if outside:
        outcomes.append((evaluator.outcome(outside), release.size))
    return _sum(outcomes)


def _by_item(release: _Release, plan: Plan) -> list[Row]:
    """GROUP BY item: one row for each original item that some released item stands for."""
    assert plan.test is not None
    question = Question.of(plan.condition)
    labels = _labels(plan)
    blocks, sizes, known = release.blocks(question.tests, labels)
    outside = _outside(release, question, frozenset() if known else labels)
    items = release.listed([plan.test, *question.tests])
    classes = release.classes(question, blocks, sizes)

    found: dict[str, list[tuple[tuple[int, ...], int]]] = {}
    none = (0,) * len(classes.parts)
    if classes.parts:
        columns = release.engine.query(
            "query/signatures_by_item", {"transactions": release.transactions, "held": release.held(classes)}
        )
        signatures = columns["signature"].tolist()
    else:
        columns = release.engine.query("query/supports", {"transactions": release.transactions})
        signatures = [None] * len(columns["transactions"])
    for released, signature, transactions in zip(
        columns["released_item"].tolist(), signatures, columns["transactions"].tolist(), strict=True
    ):
        counts = none if signature is None else classes.counts(signature)
        found.setdefault(released, []).append((counts, transactions))

    evaluator = Evaluator(_with_item(question))
    stretched = [_stretched(p) for p in classes.parts]
    beyond = [_stretched(p) for p in outside]
    stretched_classes = replace(classes, parts=stretched)
    answers: dict[tuple[str, Passed], Bounds] = {}
    rows: list[Row] = []
    for released, item, passed in items:
        key = (released, passed)
        if key not in answers:
            block = blocks.get(released, _Block(sizes[released], ()))
            own = _own_part(evaluator.question.caps, block, passed)
            number = classes.of.get(released, classes.default)
            outcomes = []
            for counts, transactions in found.get(released, []):
                others = counts if number is None else (*counts[:number], counts[number] - 1, *counts[number + 1 :])
                parts = [own, *_chosen(stretched_classes, others), *beyond]
                outcomes.append((evaluator.outcome(parts), transactions))
            answers[key] = _sum(outcomes)
        rows.append((item, *answers[key]))
    return rows


def _with_item(question: Question) -> Question:
    """The question whether a person has one given item besides: a last test, which only that item passes."""
    return Question(question.condition, (*question.tests, NO_ITEM), (*question.caps, 1), counted=True)


def _stretched(part: Part) -> Part:
    return Part(tuple(((*v, 0), p) for v, p in part.vectors), (*part.most, 0))


def _own_part(caps: tuple[int, ...], block: _Block, passed: Passed) -> Part:
    """The part of the released item of the given item."""
    passing = []
    for which, members in block.passing:
        left = members - (which == passed)
        if left:
            passing.append(((*which, False), left))
    return released_part(caps, block.size, [*passing, ((*passed, True), 1)])


def run(engine: Engine, schema: SchemaName, sql: str) -> Answer:
    """Answer a COUNT query, written for the original table, from a release.

    Args:
        engine: an engine on the sealed file or on the owner's database.
        schema: where the release is: ``main`` of a sealed file, or ``release_<name>``.
        sql: the analyst's query; ``rewriter.rewrite`` says which are answered.

    Returns:
        The answer; its bounds hold for every original that the release may come from.

    Raises:
        InputError: ``unsupported_query``, ``bad_sql``, ``query_too_complex``, ``ambiguous_item`` or ``not_a_release``.
        EngineError: the database failed.
    """
    release = _Release(engine, schema)
    plan = rewrite(sql, release.manifest)
    release.check_numbers(plan.numbers)
    if plan.counts == ITEMS:
        if release.local:  # an item is in several released items, whose rows would have to be added up
            raise unsupported("GROUP BY item on a release of a local recoding", "Count the items one by one.")
        rows = _by_item(release, plan)
        if plan.descending:
            rows.reverse()
        if len(plan.columns) > 1:
            rows = [(*(row[0],) * len(plan.columns), *row[1:]) for row in rows]
        return Answer(plan.columns, tuple(rows), plan.notes, plan.describe(), plan.name)
    bounds = _scalar(release, plan)
    if plan.other is not None:
        other = _scalar(release, plan.other)
        bounds = _clip(min(bounds[0], other[0]), bounds[1], max(bounds[2], other[2]))
    return Answer((), (bounds,), plan.notes, plan.describe(), plan.name)

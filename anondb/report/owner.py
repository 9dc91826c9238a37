"""Collect what the owner is told of a release: its contents, the truth beside its answers, and what attackers find. Nothing
is written. What needs the source (the truth, attackers, suppressed items) is left out if the source is gone."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from anondb.data.records import Attribute, Records
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, reads, tuples
from anondb.engine.trees import exp
from anondb.errors import EngineError, InputError
from anondb.ledger import ledger, stored
from anondb.ledger.tables import DECISIONS
from anondb.models import check_count, json_of
from anondb.models.named import group_size, model_of
from anondb.models.transactional import KmAnonymity
from anondb.pages.text import counted
from anondb.pipeline import reports
from anondb.policy import Workload
from anondb.promises.check import subject_of, verify_release, verify_subject
from anondb.publications import history, overlap
from anondb.publications.publish import earlier_of, intersections_of
from anondb.release.objects import StoredRelease
from anondb.report.answers import Asked, by_support, figures
from anondb.report.attributes import Groups, Seen, read_attributes
from anondb.report.contents import Bounds, Contents, Question, Where, bounds_of, read_contents, value_words
from anondb.risk.accuracy import measure_on, queries_of
from anondb.risk.attack import USUAL_KNOWLEDGE, Attack, attack
from anondb.risk.explain import cause

UNCHANGED, CHANGED, GONE = "unchanged", "changed", "gone"
SIZES = (1, 2, 3)  # the sizes of the queries that are measured
BANDS = 3  # of a number or a date, of about equally many persons; also how many categories are asked for
MOST_ATTRIBUTES, ITEMS = 6, 2
COUNTED = ("km", "k")  # the models whose threats are sets of items, which are counted before and after


@dataclass(frozen=True)
class Suppressed:
    """A suppressed item, how many transactions held it (None if the source is gone), and why it was suppressed."""

    label: str
    support: int | None
    why: str | None


@dataclass(frozen=True)
class RareSets:
    """How many minimal sets of ``size`` items fewer than k transactions hold, in the source and in the release."""

    size: int
    before: int
    after: int


@dataclass(frozen=True)
class Conditional:
    """A question: its item, the condition on an attribute in words, the truth, and the answer."""

    item: str
    words: str
    truth: int
    answer: Bounds

    def to_json(self) -> dict[str, Any]:
        """The question and its answer as JSON values."""
        return {"item": self.item, "condition": self.words, "truth": self.truth, **self.answer.to_json()}


@dataclass(frozen=True)
class OwnerReport:
    """The owner's report on one release.

    Attributes:
        contents: what the release shows.
        entry: its entry in the ledger.
        source: ``unchanged`` since the release was made, ``changed``, or ``gone``: it cannot be read.
        k: the k of the promise; the l of an anatomy, rounded up.
        supports: how many transactions hold each item; empty if the source is gone.
        suppressed: the items that no released item stands for.
        reasons: why a released item is as general as it is, by its label.
        stopped: whether the algorithm went down a taxonomy and stopped where it was not worth more.
        asked: the answers to workloads.
        rare_sets: small sets of items, before and after; empty where the promise has no such sets.
        attacks: simulated attackers who know one item, two, and so on.
        promised: how many known items of a person the promise covers, whichever they are; None for any number.
        overlaps: a line on other publications of the same persons, and one on populations that the owner has told apart.
        publications: the sealed files of the release.
        seconds: the wall time of each step.
        read: a line on each file that was read, and on each finding that the owner confirmed.
        seen: the attributes before and after; empty if the source is gone, or has none.
        groups: the groups of persons with equal released attributes.
        questions: how many persons with some values of an attribute hold an item.
    """

    contents: Contents
    entry: ledger.LedgerEntry
    source: str
    k: int
    suppressed: tuple[Suppressed, ...]
    reasons: dict[str, str]
    stopped: bool
    asked: tuple[Asked, ...]
    promised: int | None
    overlaps: tuple[str, ...]
    publications: tuple[history.Publication, ...]
    seconds: dict[str, float]
    read: tuple[str, ...] = ()
    rare_sets: tuple[RareSets, ...] = ()
    attacks: tuple[Attack, ...] = ()
    supports: Mapping[str, int] = field(default_factory=dict)
    seen: tuple[Seen, ...] = ()
    groups: Groups | None = None
    questions: tuple[Conditional, ...] = ()

    def covers(self, attack: Attack) -> bool:
        """Whether the promise covers the items that an attacker knows."""
        return self.promised is None or attack.known <= self.promised

    def html(self) -> str:
        """The page of the report."""
        from anondb.report.owner_page import owner_page

        return owner_page(self)

    def beside(self, other: "OwnerReport") -> dict[str, Any]:
        """What another release of the same data does otherwise (``anondb.report.pair.side_by_side``)."""
        from anondb.report.pair import side_by_side

        return side_by_side((self, other))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        entry = self.entry
        published = [json_of(publication, "file", "sha256", "content_digest") for publication in self.publications]
        return {
            "release": entry.name,
            **json_of(entry, "algorithm", "population"),
            **json_of(self, "source", "read"),
            **json_of(entry, "verified", "items", "suppressed_items", "suppressed_occurrences"),
            **json_of(self, "suppressed", "reasons"),
            "loss": json_of(entry, "lm_total", "lm", "ncp", "ul", "ul_log2", "ggd"),
            "accuracy": [
                figures(asked.words, asked.answers, self.k).to_json()
                | {"by_support": json_of(list(by_support(asked.answers, self.k)))}
                for asked in self.asked
            ],
            "infrequent_sets": json_of(self.rare_sets),
            **json_of(self, "attacks", "overlaps"),
            "publications": published,
            "seconds": self.seconds,
            "attributes": json_of(self.seen),
            "groups": json_of(self.groups),
            "conditional": json_of(self.questions),
            "shows": self.contents.to_json(),
        }


def collect(engine: DuckDBEngine, name: str, *, queries: int = 1000, individuals: int = 1000, seed: int = 0) -> OwnerReport:
    """Collect the report on a release in the owner's database, which may be read-only, outside a transaction; for
    ``queries`` of each size, and as many ``individuals`` whom attackers look for, drawn with ``seed``. Raises InputError:
    ``no_such_release``; ``no_report``: the ledger has no entry of it."""
    Workload(queries, 1, seed)  # checks them
    check_count("queries", queries)  # a report measures
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        release = stored.find_whole(engine, name)
        entry = ledger.find(engine, catalog, name)
        if entry is None or entry.release_id != release.release_id:
            raise InputError(
                f"The ledger has no figures of the release {name!r}.",
                code="no_report",
                hint="Report what it shows: --public.",
            )
        contents = read_contents(engine, release)
        decisions = DECISIONS.rows(engine, catalog, entry.release_id)
        parents = dict(ledger.taxonomy_of(engine, catalog, entry.release_id))
        recorded = ledger.recorded_answers(engine, catalog, entry.release_id)
        seconds, read = reports.run_of(engine, catalog, entry.release_id)
        stated = overlap.stated(engine, catalog, entry.release_id)
        published = [p for p in history.publications(engine, catalog) if p.release_id == entry.release_id]
    reasons, why = _causes(decisions, entry.parameters)
    parameters = model_of(release.manifest).parameters()
    most = parameters.get("m", parameters.get("p", "inf" if entry.model == "k" else 0))
    report = OwnerReport(
        contents=contents,
        entry=entry,
        source=GONE,
        k=group_size(parameters),
        suppressed=tuple(Suppressed(label, None, words) for label, words in why.items()),
        reasons=reasons,
        stopped=any(d["action"] == "specialize" for d in decisions),
        asked=tuple(Asked(words.removeprefix(f"{entry.name}: "), tuple(answers)) for words, answers in recorded.items()),
        promised=most if isinstance(most, int) else None,
        overlaps=(*history.notes(intersections_of(engine, name, earlier_of(engine, name))), *stated),
        publications=tuple(published),
        seconds=seconds,
        read=read,
    )
    return _with_source(engine, report, why, parents, queries, individuals, seed)


def _with_source(
    engine: DuckDBEngine,
    report: OwnerReport,
    why: dict[str, str | None],
    parents: dict[str, str | None],
    queries: int,
    individuals: int,
    seed: int,
) -> OwnerReport:
    """Add what needs the source, if it can still be read."""
    name, release = report.entry.name, report.contents.release
    try:
        with engine.transaction():
            entry, dataset = stored.load_source(engine, name)
            same = dataset.n_transactions == report.contents.transactions
            source = UNCHANGED if same and entry.fingerprint == fingerprint(engine, dataset) else CHANGED
            suppressed = _suppressed(why, parents, dataset, report.contents)
            supports = dict(zip(dataset.labels, dataset.supports.tolist(), strict=True))
    except (InputError, EngineError):
        return report
    asked = [
        _measured(engine, release, name, source == UNCHANGED, Workload(queries, size, seed))
        for size in SIZES
        if size <= dataset.longest
    ]
    asked += [answered for answered in report.asked if not answered.words.startswith("random ")]
    attacks = []
    limit = min(report.promised or SIZES[-1], SIZES[-1])
    for size in (n for n in SIZES if n <= min(max(limit, USUAL_KNOWLEDGE) + 1, dataset.longest)):
        engine.progress(f"simulating an attacker who knows {size} items")
        with contextlib.suppress(InputError):
            attacks.append(attack(engine, name, individuals=individuals, known=size, seed=seed))
    largest = min(report.promised or USUAL_KNOWLEDGE, SIZES[-1])
    rare_sets = _rare_sets(engine, name, release, report.k, largest) if release.manifest["model"] in COUNTED else ()
    measured: dict[str, Any] = {"attacks": tuple(attacks), "rare_sets": tuple(rare_sets), "asked": tuple(asked)}
    if release.kind.attributes:
        measured |= _attribute_parts(engine, report)
    return replace(report, source=source, suppressed=suppressed, supports=supports, **measured)


def _attribute_parts(engine: DuckDBEngine, report: OwnerReport) -> dict[str, Any]:
    """The attributes, groups and conditional questions; nothing if the records are gone."""
    release = report.contents.release
    engine.progress("reading the attributes")
    with contextlib.suppress(InputError), engine.transaction():
        entry, dataset = stored.load_source(engine, report.entry.name)
        attributes = release.kind.attributes or ()
        records = stored.released_records(engine, entry, dataset, attributes)
        seen, groups = read_attributes(engine, release, records)
        questions = conditional_questions(engine, release, dataset, records, report.contents.counts)
        return {"seen": seen, "groups": groups, "questions": questions}
    return {}


def _measured(engine: DuckDBEngine, release: StoredRelease, name: str, unchanged: bool, workload: Workload) -> Asked:
    """The answers to random queries, and the truth in the current source."""
    engine.progress(f"measuring accuracy of queries of {workload.size} items")
    with engine.transaction():
        _, dataset = stored.load_source(engine, name)
        queries = queries_of(engine, dataset, workload, lambda: None)
        shown = release.schema, release.kind, release.manifest
        accuracy = measure_on(engine, dataset, *shown, queries, must_hold=unchanged)
        columns = "items, truth, estimate, lower_bound, upper_bound"
        listed = engine.select(reads.rows(accuracy.answers, columns, order="truth, items, query_id"))
    return Asked(counted(workload.size, "item"), tuple((tuple(items), *counts) for items, *counts in tuples(listed)))


def _rare_sets(engine: DuckDBEngine, name: str, release: StoredRelease, k: int, limit: int) -> list[RareSets]:
    """The minimal sets of each size, by the verifier: those up to a size, less those of smaller sizes. Sets of a local
    recoding are those of its labels. Where counting gets too large, the larger sizes are left out."""
    rare_sets: list[RareSets] = []
    with contextlib.suppress(InputError, EngineError), engine.transaction():
        _, dataset = stored.load_source(engine, name)
        subject, before, after = subject_of(engine, dataset), 0, 0
        for size in range(1, limit + 1):
            model = KmAnonymity(k, size)
            engine.progress(f"counting sets of {size} items")
            in_source = verify_subject(subject, model).violations
            in_release = verify_release(engine, release.schema, model, kind=replace(release.kind, local=False)).violations
            rare_sets.append(RareSets(size, in_source - before, in_release - after))
            before, after = in_source, in_release
    return rare_sets


def _causes(decisions: list[dict[str, Any]], parameters: dict[str, Any]) -> tuple[dict[str, str], dict[str, str | None]]:
    """Why each generalized item was formed, by its last decision; and why items were suppressed in the last round."""
    last = max((int(d["round"]) for d in decisions), default=1)
    formed = ((d["subject"], cause(d, parameters, last)) for d in decisions if d["action"] in ("generalize", "merge"))
    suppressed = (d for d in decisions if d["action"] == "suppress" and int(d["round"]) == last)
    return (
        {str(subject): words for subject, words in formed if words is not None},
        {str(d["subject"]): cause(d, parameters, last) for d in suppressed},
    )


def _suppressed(
    why: dict[str, str | None], parents: dict[str, str | None], dataset: Dataset, contents: Contents
) -> tuple[Suppressed, ...]:
    """The suppressed items, those with the most transactions first; ``parents`` is the taxonomy, whose nodes may have been
    suppressed with all items below them."""
    shown = {member for item in contents.items for member in item.members}
    items = [
        Suppressed(label, support, _why_suppressed(label, why, parents))
        for label, support in zip(dataset.labels, dataset.supports.tolist(), strict=True)
        if label not in shown
    ]
    return tuple(sorted(items, key=lambda item: (-(item.support or 0), item.label)))


def _why_suppressed(label: str, why: dict[str, str | None], parents: dict[str, str | None]) -> str | None:
    """Why an item was suppressed, or the category that it belongs to."""
    node: str | None = label
    while node is not None and node not in why:
        node = parents.get(node)
    words = None if node is None else why[node]
    return words if node == label or words is None else f"suppressed as a part of {node!r}: {words}"


def conditional_questions(
    engine: DuckDBEngine, release: StoredRelease, dataset: Dataset, records: Records, counts: tuple[Bounds, ...]
) -> tuple[Conditional, ...]:
    """Ask how many persons hold an item, of those with some values of one attribute; the first of ``counts``, the most
    frequent first, say for which."""
    number = {label: i for i, label in enumerate(dataset.labels)}
    ranged = {a.name for a in records.attributes if a.is_range}
    asked: list[Question] = []
    found = []
    for item in [c.items[0] for c in counts if c.items[0] in number][:ITEMS]:
        holding = reads.rows(dataset.transactions, "tid", where=exp.column("item").eq(exp.convert(number[item])))
        held = engine.select(holding, "who holds an item")["tid"].astype(np.int64) - 1
        for where, fits in (w for a in records.attributes[:MOST_ATTRIBUTES] for w in _conditions(a)):
            asked.append(((item,), (where,)))
            found.append((item, value_words(where, ranged=where[0] in ranged), int(fits[held].sum())))
    answers = bounds_of(engine, release.schema, asked)
    return tuple(Conditional(*one, answer) for one, answer in zip(found, answers, strict=True))


def _conditions(attribute: Attribute) -> list[tuple[Where, np.ndarray[Any, np.dtype[np.bool_]]]]:
    """Bands of an attribute, or its most frequent categories: the values that the macro takes, and who has one of them."""
    codes, present = attribute.codes, ~attribute.null
    values, n = np.unique(codes[present], return_counts=True)
    if not len(values):
        return []
    if not attribute.is_range:
        often = values[np.argsort(-n, kind="stable")][:BANDS].tolist()
        return [((attribute.name, (attribute.values[code],)), present & (codes == code)) for code in often]
    place = np.minimum((np.cumsum(n) - n) * BANDS // int(n.sum()), BANDS - 1)
    bands = [values[place == band] for band in range(BANDS) if (place == band).any()]
    return [
        ((attribute.name, (_value(attribute, band[0]), _value(attribute, band[-1]))), present & np.isin(codes, band))
        for band in bands
    ]


def _value(attribute: Attribute, code: int) -> Any:
    """A number or a date as the macro takes it: exactly."""
    if attribute.kind == "date":
        moment = np.datetime64(int(code), "us")
        return str(moment.astype("M8[D]") if attribute.sql_type == "DATE" else moment).replace("T", " ")
    value = int(code) * attribute.unit
    return int(value) if value.denominator == 1 else Decimal(value.numerator) / value.denominator

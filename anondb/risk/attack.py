"""Simulate an attacker who knows facts about real persons: count the candidates in the source and in the release. Only the
owner can run it, because it reads the source. It counts persons, items and values, and never shows them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.records import Attribute, Records
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine, Query, Rows, Table, put_integers, reads
from anondb.engine.texts import listed, quoted
from anondb.errors import InputError
from anondb.ledger import ledger
from anondb.ledger.stored import current_catalog, find_whole, load_source, released_records
from anondb.models import AsTable, check_count
from anondb.models.named import group_size, model_of
from anondb.release.conditions import NUMBERS, ReleasedAttribute
from anondb.release.objects import ANATOMY, SchemaName, StoredRelease, read_release

USUAL_KNOWLEDGE = 2  # items known of each person if the promise has no number


@dataclass(frozen=True)
class Candidates(AsTable):
    """The sizes of the candidate sets: the transactions that match the attacker's knowledge of each drawn person."""

    # smallest, quartiles, largest: sizes of candidate sets
    smallest: int
    quartiles: tuple[float, float, float]
    largest: int
    of_one: int  # the number of persons who are singled out
    below_k: int  # the number of persons with fewer than k candidates
    at_smallest: int  # the number of persons with the smallest candidate set

    @classmethod
    def of(cls, sizes: npt.NDArray[Any], k: int) -> Candidates:
        """Summarize the size of each person's candidate set."""
        low, middle, high = (float(q) for q in np.quantile(sizes, (0.25, 0.5, 0.75)))
        smallest = int(sizes.min())
        at_smallest = int((sizes == smallest).sum())
        ones, below = int((sizes == 1).sum()), int((sizes < k).sum())
        return cls(smallest, (low, middle, high), int(sizes.max()), ones, below, at_smallest)


@dataclass(frozen=True)
class Attack(AsTable):
    """The result of a simulated attack.

    Attributes:
        release: the name of the release.
        k: the k of its promise; the l of an anatomy, rounded up.
        individuals: the number of drawn persons; each has something that an attacker can know.
        known: the number of known items of each person, or all items of a person who has fewer.
        quasi_identifiers: the attributes whose values the attacker knows.
        fresh: whether the transactions are unchanged since the release was made; if not, the candidates are other persons.
        before, after: candidate sets in the source and in the release.
    """

    release: str
    k: int
    individuals: int
    known: int
    quasi_identifiers: tuple[str, ...]
    fresh: bool
    before: Candidates
    after: Candidates


def attack(engine: DuckDBEngine, name: str, *, individuals: int = 1000, known: int | None = None, seed: int = 0) -> Attack:
    """Draw persons of the source and known items of each, and count the candidates in the source and in the release.

    If the release has relational values, the attacker also knows all values of the person. As the promises assume, the
    attacker does not know sensitive and private items. In a global recoding, a candidate has the image of every known item
    that has one. In a local recoding, which may publish the same item differently in each transaction, a candidate's values
    may be those of the person, and for each known item it either has an item that stands for it or may have had items
    suppressed. In an anatomy, the values of a bucket's columns may be combined in any way. Item supports leave the
    candidates of known items as they are (docs/item_supports.md), so they are not read; ``invert_release`` reads them.

    Args:
        engine: the owner's engine, outside a transaction.
        name: the name of the release.
        individuals: the number of persons to draw, without repetition.
        known: the number of items that the attacker knows of each; by default that of the promise (m, or p), or 2.
        seed: the seed of the draw.

    Raises:
        InputError: the release does not exist, or its source is gone or has nothing that an attacker can know.
    """
    check_count("individuals", individuals)
    with engine.transaction():
        release = find_whole(engine, name)
        manifest = release.manifest
        promise = model_of(manifest).parameters()
        promised = promise.get("m", promise.get("p"))
        known = (promised if isinstance(promised, int) else USUAL_KNOWLEDGE) if known is None else known
        check_count("known", known)
        entry, dataset = load_source(engine, name)
        attributes = release.kind.attributes or ()
        records = released_records(engine, entry, dataset, attributes) if attributes else None
        hidden = json.loads(manifest["sensitive"]) if release.kind.attributes is not None else ()
        hidden = {*hidden, *ledger.sensitive_of(engine, current_catalog(engine), release.release_id)}
        drawn = {"individuals": individuals, "known": known, "seed": seed}
        before, after = candidates(engine, release.schema, dataset, records, hidden, **drawn)
        k = group_size(promise)
        sizes = (Candidates.of(counts, k) for counts in (before, after))
        fresh = entry.fingerprint == fingerprint(engine, dataset)
    return Attack(name, k, len(before), known, tuple(a.name for a in attributes), fresh, *sizes)


def candidates(
    engine: Engine,
    schema: SchemaName,
    dataset: Dataset,
    records: Records | None,
    hidden: Collection[str],
    *,
    individuals: int,
    known: int,
    seed: int = 0,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The number of candidates of each drawn person, in the source and in the release; records are None where it has no
    relational values, and attackers do not know ``hidden`` items. For the rest see ``attack``."""
    release = read_release(engine, schema)
    assert release is not None
    persons, knowledge = _drawn(engine, dataset, hidden, individuals, known, seed, everyone=bool(release.kind.attributes))
    before = _in_source(engine, dataset, records, persons, knowledge)
    return before, _in_release(engine, dataset, release, records, persons, knowledge)


def _drawn(
    engine: Engine,
    dataset: Dataset,
    hidden: Collection[str],
    individuals: int,
    most_items: int,
    seed: int,
    *,
    everyone: bool,
) -> tuple[Table, Table]:
    """Draw random persons ``(person)``, and known items of each ``(person, item)``. Persons are drawn from those with an
    item that an attacker can know, or from all."""
    secret = [n for n, label in enumerate(dataset.labels) if label in hidden]
    hiding = engine.put("hidden", {"item": ("INTEGER", secret)})
    rows = engine.create("knowable", reads.among(dataset.transactions, hiding, "item", "tid, item", absent=True))
    persons = engine.select(reads.rows(dataset.ids if everyone else rows, "tid", distinct=True, order="tid"))["tid"]
    if not len(persons):
        raise InputError("No person of the source has an item that an attacker could know.", code="empty")
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.choice(persons, size=min(individuals, len(persons)), replace=False))
    table = engine.put("drawn", {"person": ("INTEGER", drawn)})
    items = engine.select(reads.among(rows, table, "tid = person", "tid, item", order="tid, item"))
    order = np.lexsort((rng.random(len(items["tid"])), items["tid"]))
    person, item = items["tid"][order], items["item"][order]
    chosen = np.arange(len(person)) - np.searchsorted(person, person) < most_items
    knowledge = put_integers(engine, "known", person=person[chosen], item=item[chosen])
    engine.drop(hiding, rows)
    return table, knowledge


def _in_source(
    engine: Engine, dataset: Dataset, records: Records | None, persons: Table, knowledge: Table
) -> npt.NDArray[Any]:
    """For each person, the number of transactions of the source with the known values and items."""
    attributes = records.attributes if records is not None else ()
    values = [part for attribute in attributes for part in (attribute.codes, attribute.null)]
    numbers = np.zeros(dataset.n_transactions, dtype=np.int64)
    if values:
        numbers = np.unique(np.stack(values), axis=1, return_inverse=True)[1].reshape(-1)
    alike = put_integers(engine, "alike", tid=np.arange(1, dataset.n_transactions + 1), alike=numbers)
    tables = {"persons": persons, "known": knowledge, "transactions": dataset.transactions, "alike": alike}
    return engine.query("risk/candidates_before", tables)["candidates"]


def _in_release(
    engine: Engine, dataset: Dataset, release: StoredRelease, records: Records | None, persons: Table, knowledge: Table
) -> npt.NDArray[Any]:
    """For each person, the number of transactions of the release that may be the person's."""
    schema, kind = release.schema, release.kind
    tables = {"known": knowledge, "items": dataset.items}
    if kind is ANATOMY:
        tables |= {"persons": persons, "buckets": schema.table("buckets")}
        return engine.query("risk/candidates_anatomy", tables)["candidates"]
    if kind.by_transaction:
        return _in_local(engine, dataset, release, records, persons, knowledge)
    tables |= {t: schema.table(t) for t in ("released_items", "transactions", "transaction_ids")}
    return engine.query("risk/candidates_after", tables)["candidates"]


def _in_local(
    engine: Engine, dataset: Dataset, release: StoredRelease, records: Records | None, persons: Table, knowledge: Table
) -> npt.NDArray[Any]:
    """For each person, the number of transactions of a local recoding that may be the person's."""
    schema, attributes = release.schema, release.kind.attributes or ()
    shown = engine.create("shown", shown_values(schema, attributes))
    every = reads.rows(shown, "class", distinct=True)  # without known values every class matches every person
    fitting = engine.create("fitting", reads.joined(persons, every, "", "one.person, other.class"))
    for i, attribute in enumerate(attributes):
        assert records is not None
        values = _known_values(engine, records.attributes[i], persons)
        tables: dict[str, Rows] = {"fitting": fitting, "known_values": values}
        if attribute.ends is None:
            tables["shown"] = reads.rows(shown, f"class, label{i} AS label", distinct=True)
            tables["released_values"] = schema.table("released_values")
            narrower = engine.create(f"fitting{i}", "risk/in_category", tables, attribute=attribute.name)
        else:
            ends = f"class, low{i} AS low, high{i} AS high, null{i} AS holds_null"
            tables["shown"] = reads.rows(shown, ends, distinct=True)
            narrower = engine.create(f"fitting{i}", "risk/in_range", tables)
        engine.drop(fitting, values)
        fitting = narrower
    tables = {name: schema.table(name) for name in ("released_items", "transactions")}
    tables |= {"known": knowledge, "items": dataset.items, "shown": shown, "fitting": fitting, "persons": persons}
    atomic = release.manifest["semantics"] == "atomic"
    return engine.query("risk/candidates_local", tables, atomic=atomic)["candidates"]


def shown_values(schema: SchemaName, attributes: tuple[ReleasedAttribute, ...]) -> Query:
    """Every transaction with ``complete``, the class of equal relational values, and these values: the ends of a range as
    numbers (points in time in microseconds) with a flag for NULL, or a category."""
    ids, columns = schema.table("transaction_ids"), "one.transaction_id, one.complete"
    shown: dict[str, str] = {}
    for i, attribute in enumerate(attributes):
        if attribute.ends is None:
            shown[f"label{i}"] = _column(attribute.name)
            continue
        shown |= {f"{end}{i}": _number(attribute, end) for end in ("low", "high")}
        shown[f"null{i}"] = _column(attribute.name + "_null") if attribute.has_null else "FALSE"
    order = listed(value for value in shown.values() if value != "FALSE") or "1"
    shown["class"] = f"CAST(dense_rank() OVER (ORDER BY {order}) AS INTEGER)"
    columns = listed((columns, *(f"{value} AS {name}" for name, value in shown.items())))
    return reads.joined(ids, schema.table("records"), "transaction_id", columns) if attributes else reads.rows(ids, columns)


def _column(name: str) -> str:
    return f"other.{quoted(name)}"


def _number(attribute: ReleasedAttribute, end: str) -> str:
    value = _column(attribute.name + {"low": "_lo", "high": "_hi"}[end])
    return f"CAST({f'epoch_us({value})' if attribute.ends in ('DATE', 'TIMESTAMP') else value} AS {NUMBERS})"


def _known_values(engine: Engine, attribute: Attribute, persons: Table) -> Table:
    """The value of each drawn person ``(person, value)``: the text of a category, of a number, or of microseconds."""
    drawn = engine.select(reads.rows(persons, "person", order="person"))["person"]
    codes, nulls = attribute.codes[drawn - 1].tolist(), attribute.null[drawn - 1].tolist()
    if attribute.is_range:
        scale = Decimal(attribute.unit.numerator) / attribute.unit.denominator  # a power of ten
        values = [None if null else f"{code * scale:f}" for code, null in zip(codes, nulls, strict=True)]
    else:
        values = [attribute.values[code] for code in codes]
    return engine.put("known_values", {"person": ("INTEGER", drawn), "value": ("VARCHAR", values)})

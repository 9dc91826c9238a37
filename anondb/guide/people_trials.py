"""Trials for people with attributes: a promise that covers these, algorithms with several delta, and what the runs read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.compare.copies import Copies, copying
from anondb.compare.runs import Run, plan
from anondb.data.attributes import attribute_hierarchies
from anondb.data.files import put_taxonomy
from anondb.data.records import Attribute, load_records, parse_quasi_identifiers, snapshot
from anondb.data.requirements import load_sensitive
from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table, reads
from anondb.engine.files import write_file
from anondb.errors import InputError
from anondb.guide.needs import Needs
from anondb.guide.profile import profile
from anondb.guide.trials import ALL, Input, Prepared, choose, no_items, sample_k, write_queries
from anondb.models.named import make_model
from anondb.reading.options import ReadAs

SAMPLE = 3_000  # persons of a sample; fewer persons are not sampled
RUM, TUM = "rum_bound_rt", "tum_bound_rt"
VALUES, RANGES, BOTH = "attributes", "ranges", "both"
MOST_VALUES = 1000  # of a category that is grouped by; sessions give no bounds beyond
BANDS = 4  # ranges of an attribute; every other one is asked with items
FREQUENT, ITEMS = 12, 20  # the most frequent values and items, which are asked with each other

Question = tuple[str, exp.Select]
"""Its kind, and the statement."""
TRIED = ((RUM, "0.65"), (RUM, "0.8"), (RUM, "0.3"), (RUM, "0.9"), (RUM, "0.5"), (TUM, "0.3"), (TUM, "0.1"), (RUM, "0.15"))
"""Algorithms with values of delta, those first that are tried first if time is short."""
HELD, PEOPLE = "held", "people"  # tables of the items and of the attributes
WHOLE, PART = "whole", "sample"  # their schemas


def prepare_people(
    engine: Engine, transactions: Any, needs: Needs, people: Mapping[str, Any], taxonomy: Any, folder: Path
) -> Prepared:
    """Count what attackers find, and write the input of the runs into the folder.

    Args:
        engine: the engine, outside a transaction.
        transactions, taxonomy: as in ``advise``.
        needs: what the owner said; a release for counts.
        people: the options of ``needs.PEOPLE`` that the owner set.

    Raises:
        InputError: ``no_quasi_identifiers``: none are named, and none proposed; ``bad_usage``: item supports, or a use that
            needs other algorithms; see ``profile`` and ``load_records``.
    """
    if needs.use != "counts":
        words = f"With attributes, no release is made for {needs.use}."
        raise InputError(words, code="bad_usage", hint="Leave --use out.")
    if needs.item_supports:
        words = "A release with attributes has no item supports: these would lead to private items."
        raise InputError(words, code="bad_usage", hint="Leave --item-supports out.")
    profiled = profile(engine, transactions, taxonomy=taxonomy, k=needs.k, **people)
    if not profiled.items:
        raise no_items(profiled.source)
    names = () if profiled.people is None else profiled.people.quasi_identifiers
    if not names:
        hint = "Name them with --quasi-identifiers A,B."
        raise InputError("No column is proposed as a quasi-identifier.", code="no_quasi_identifiers", hint=hint)
    owners = {"quasi_identifiers": ",".join(names), **people}
    owners |= {} if taxonomy is None else {"taxonomy": taxonomy}
    sampled = SAMPLE if profiled.persons > SAMPLE else None
    with copying(engine, folder / "persons.duckdb") as copies:
        copy = _Copy(engine, folder, copies, owners)
        with copies.transaction():
            whole = copy.persons(transactions, sampled)
        sample = None if sampled is None else copy.sample(whole, sample_k(needs.k, sampled, profiled.persons))
    runs = _candidates(needs, owners)
    return Prepared(profiled.source, profiled.persons, profiled.known[0], runs, whole, sample, sampled, profiled)


def _candidates(needs: Needs, owners: Mapping[str, Any]) -> list[Run]:
    """The runs, in their order, with the owner's options."""
    name = "klm" if owners.get("sensitive") is not None else "kkm"
    parameters = make_model(name, k=needs.k, m=needs.m).parameters()
    grid = {parameter: [value] for parameter, value in parameters.items()}
    return [run for algorithm, delta in TRIED for run in plan([algorithm], [name], {**grid, "delta": [delta]}, owners)]


class _Copy:
    """Writes what runs read into an attached private database: all persons and a sample, each into a schema."""

    def __init__(self, engine: Engine, folder: Path, copies: Copies, owners: Mapping[str, Any]) -> None:
        self._engine, self._folder, self._copies, self._owners = engine, folder, copies, owners

    def persons(self, transactions: Any, most: int | None) -> Input:
        """Write all persons and, if there are more, a sample of so many; return the input of all."""
        engine, owners = self._engine, self._owners
        records = owners.get("records") if owners.get("records") is not None else transactions
        named = {"quasi_identifiers": owners["quasi_identifiers"], "records": f"{WHOLE}.{PEOPLE}"}
        options = named | self._knowledge()
        with open_source(engine, transactions, "transactions") as source, open_source(engine, records, "records") as rows:
            dataset = load_transactions(engine, source, more_ids=rows)
            read = {"quasi_identifiers": owners["quasi_identifiers"], "hierarchies": owners.get("hierarchies")}
            attributes = load_records(engine, records, dataset, **read).attributes
            names = [attribute.name for attribute in attributes]
            values = snapshot(engine, rows, rows.column(dataset.id_column, "--id"), names, dataset)
        self._write(WHOLE, dataset, attributes, values, ALL)
        if most is not None:
            self._write(PART, dataset, attributes, values, most)
        frequent = [dataset.labels[i] for i in (-dataset.supports).argsort(kind="stable")[:ITEMS]]
        columns: Any = {"id": dataset.id_column, "item": dataset.item_column}
        asked = questions(attributes, frequent, held=HELD, people=PEOPLE, **columns)
        log = self._folder / "questions.sql"
        write_file(log, "".join(f"{question.sql('duckdb')};\n" for _, question in asked))
        kinds = tuple(kind for kind, _ in asked)
        queries = write_queries(engine, dataset, self._folder, WHOLE)
        file = self._folder / "persons.duckdb"
        return Input(file, queries, f"{WHOLE}.{HELD}", **columns, log=log, kinds=kinds, options=options)

    def sample(self, whole: Input, k: int) -> Input:
        """The input of the sample that was written."""
        held, people = (self._copies.written(PART, name) for name in (HELD, PEOPLE))
        with (
            self._engine.transaction(),
            open_source(self._engine, ReadAs(held.sql(), id=whole.id, item=whole.item), "sample") as source,
            open_source(self._engine, people.sql(), "sample") as rows,
        ):
            dataset = load_transactions(self._engine, source, more_ids=rows)
            queries = write_queries(self._engine, dataset, self._folder, PART)
        options = {**whole.options, "records": f"{PART}.{PEOPLE}"}
        return replace(whole, queries=queries, transactions=f"{PART}.{HELD}", k=k, options=options)

    def _write(self, schema: str, dataset: Dataset, attributes: tuple[Attribute, ...], values: Table, most: int) -> None:
        """Write the items and the attributes of at most so many persons."""
        engine, chosen = self._engine, choose(self._engine, dataset, most)
        tid = exp.column("tid").as_(dataset.id_column, quoted=True)
        label = exp.column("item").as_(dataset.item_column, quoted=True)
        labels = reads.joined(dataset.transactions, dataset.items, "item", "one.tid, other.label AS item")
        held = exp.select(tid, label).from_(
            reads.joined(labels, chosen, "tid", "one.tid, one.item", order="tid, item").subquery("held")
        )
        engine.create(self._copies.table(schema, HELD), held)
        typed = [
            exp.cast(exp.column(f"c{i}"), attribute.type, dialect="duckdb").as_(attribute.name, quoted=True)
            for i, attribute in enumerate(attributes)
        ]
        kept = reads.among(values, chosen, "tid", ", ".join(("tid", *(f"c{i}" for i in range(len(attributes))))))
        engine.create(self._copies.table(schema, PEOPLE), exp.select(tid.copy(), *typed).from_(kept.subquery("kept")))
        engine.drop(chosen)

    def _knowledge(self) -> dict[str, Any]:
        """The taxonomy, the hierarchies and the sensitive items, with their places in the copy."""
        engine, owners, places = self._engine, self._owners, dict[str, Any]()
        if "taxonomy" in owners:
            put_taxonomy(engine, load_taxonomy(engine, owners["taxonomy"]), self._copies.table(WHOLE, "taxonomy"))
            places["taxonomy"] = f"{WHOLE}.taxonomy"
        if owners.get("sensitive") is not None:
            places["sensitive"] = list(load_sensitive(engine, owners["sensitive"]))
        if owners.get("hierarchies") is not None:
            names = [name for name, _ in parse_quasi_identifiers(owners["quasi_identifiers"])]
            trees, _ = attribute_hierarchies(engine, owners["hierarchies"], names)
            for i, tree in enumerate(trees.values()):
                put_taxonomy(engine, tree, self._copies.table(WHOLE, f"hierarchy_{i}"))
            places["hierarchies"] = {name: f"{WHOLE}.hierarchy_{i}" for i, name in enumerate(trees)}
        return places


def questions(
    attributes: Sequence[Attribute], items: Sequence[str], *, held: str, people: str, id: str, item: str
) -> list[Question]:
    """The questions that releases of people with attributes are tried on, as SELECTs that their sessions answer.

    Counts by the values of a category; in ranges of numbers and dates, of about equally many persons each; and of the
    frequent items by frequent values, or in ranges. Items and pairs of items alone are queries of ``write_queries``.

    Args:
        items: the items that are asked with attributes.
        held, people: the tables of the items and of the attributes.
        id, item: the column of both tables, and that of the items.
    """
    persons = exp.table_(people, quoted=True)
    holding = exp.Join(this=exp.table_(held, quoted=True), using=[exp.to_identifier(id, quoted=True)])
    listed = reads.named(item).isin(*(exp.Literal.string(label) for label in items))
    number = exp.Count(this=exp.Star()).as_("n")

    def asked(by: Sequence[str], where: Sequence[exp.Expr]) -> exp.Select:
        columns = [reads.named(name) for name in by]
        return exp.select(*columns, number).from_(persons).where(*where).group_by(*columns)

    all_questions: list[Question] = []
    for attribute in attributes:
        codes, counts = np.unique(attribute.codes[~attribute.null], return_counts=True)
        if not len(codes):
            continue
        if attribute.is_range:
            bands = list(_bands(attribute, codes, counts))
            all_questions += [(RANGES, asked([], [band])) for band in bands]
            all_questions += [(BOTH, asked([item], [band, listed]).join(holding)) for band in bands[::2]]
            continue
        if len(codes) <= MOST_VALUES:
            all_questions.append((VALUES, asked([attribute.name], [])))
        frequent = codes[np.lexsort((codes, -counts))[:FREQUENT]]
        often = reads.named(attribute.name).isin(*(_literal(attribute, int(code)) for code in frequent))
        all_questions.append((BOTH, asked([attribute.name, item], [often, listed]).join(holding)))
    return [(kind, question) for kind, question in all_questions if items or kind != BOTH]


def _bands(attribute: Attribute, codes: np.ndarray, counts: np.ndarray) -> Iterator[exp.Expr]:
    """Conditions that divide the values into ranges of about equally many persons."""
    part = (np.cumsum(counts) - counts) * BANDS // counts.sum()
    for band in np.unique(part):
        inside = codes[part == band]
        low, high = (_literal(attribute, int(code)) for code in (inside[0], inside[-1]))
        yield exp.Between(this=reads.named(attribute.name), low=low, high=high)


def _literal(attribute: Attribute, code: int) -> exp.Expr:
    """The value of a code as an analyst writes it."""
    if attribute.kind == "categorical":
        return exp.Literal.string(attribute.values[code])
    if attribute.kind == "date":
        moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=code)
        return exp.cast(exp.Literal.string(moment.replace(tzinfo=None).isoformat(" ")), attribute.sql_type)
    unit = attribute.unit
    number = Decimal(code * unit.numerator) / Decimal(unit.denominator)
    return exp.Literal.number(f"{number:f}")

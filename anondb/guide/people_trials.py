"""Trials for people with attributes: a promise that covers these, algorithms with several delta, and what the runs read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anondb.algorithms.relational import WITHOUT_ITEMS
from anondb.compare.copies import Copies, copying
from anondb.compare.questions import write_questions
from anondb.compare.runs import Run, plan
from anondb.data.attributes import attribute_hierarchies
from anondb.data.constraints import load_sensitive
from anondb.data.files import put_taxonomy
from anondb.data.records import Attribute, load_records, parse_quasi_identifiers, snapshot
from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table, reads
from anondb.engine.texts import listed, quoted, sql, type_text
from anondb.errors import InputError
from anondb.guide.needs import Needs
from anondb.guide.profile import profile
from anondb.guide.trials import ALL, Input, Prepared, choose, sample_k, write_queries
from anondb.models.named import make_model
from anondb.reading.options import ReadAs, names_text

SAMPLE = 3_000  # persons of a sample; fewer persons are not sampled
RUM, TUM = "rum_bound_rt", "tum_bound_rt"
TRIED = ((RUM, "0.65"), (RUM, "0.8"), (TUM, "0.3"), (RUM, "0.3"), (RUM, "0.9"), (RUM, "0.5"), (TUM, "0.1"), (RUM, "0.15"))
"""Algorithms with values of delta, those first that are tried first if time is short: both bounds are among them."""
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
    names = () if profiled.people is None else profiled.people.quasi_identifiers
    if not names:
        hint = "Name them with --quasi-identifiers A,B."
        raise InputError("No column is proposed as a quasi-identifier.", code="no_quasi_identifiers", hint=hint)
    owners = {"quasi_identifiers": names_text(names), **people}
    owners |= {} if taxonomy is None else {"taxonomy": taxonomy}
    sampled = SAMPLE if profiled.persons > SAMPLE and profiled.items else None
    with copying(engine, folder / "persons.duckdb") as copies:
        copy = _Copy(engine, folder, copies, owners)
        with copies.transaction():
            whole = copy.persons(transactions, sampled)
        sample = None if sampled is None else copy.sample(whole, sample_k(needs.k, sampled, profiled.persons))
    tried = TRIED if profiled.items else tuple((algorithm, None) for algorithm in WITHOUT_ITEMS)
    runs = _candidates(needs, owners, tried)
    return Prepared(profiled.source, profiled.persons, profiled.known[0], runs, whole, sample, sampled, profiled)


def _candidates(needs: Needs, owners: Mapping[str, Any], tried: Sequence[tuple[str, str | None]]) -> list[Run]:
    """The runs of these algorithms with delta, in their order, with the owner's options."""
    name = "klm" if owners.get("sensitive") is not None else "kkm"
    parameters = make_model(name, k=needs.k, m=needs.m).parameters()
    grid = {parameter: [value] for parameter, value in parameters.items()}
    return [run for algorithm, delta in tried for run in plan([algorithm], [name], {**grid, "delta": [delta]}, owners)]


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
        columns: Any = {"id": dataset.id_column, "item": dataset.item_column}
        log = self._folder / "questions.sql"
        kinds = write_questions(log, attributes, dataset, held=HELD, people=PEOPLE)
        queries = write_queries(engine, dataset, self._folder, WHOLE) if dataset.n_items else None
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
        tid, item = quoted(dataset.id_column), quoted(dataset.item_column)
        labels = reads.joined(dataset.transactions, dataset.items, "item", "one.tid, other.label AS item")
        held = reads.joined(labels, chosen, "tid", f"one.tid AS {tid}, one.item AS {item}", order="one.tid, one.item")
        engine.create(self._copies.table(schema, HELD), held)
        typed = (
            sql(f"CAST(c{i} AS {{}}) AS {{}}", type_text(attribute.type), quoted(attribute.name))
            for i, attribute in enumerate(attributes)
        )
        kept = reads.among(values, chosen, "tid", ", ".join(("tid", *(f"c{i}" for i in range(len(attributes))))))
        engine.create(self._copies.table(schema, PEOPLE), reads.rows(kept, listed((f"tid AS {tid}", *typed))))
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

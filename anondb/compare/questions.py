"""The questions about people with attributes that releases are compared on, as SELECTs that their sessions answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np

from anondb.data.records import Attribute
from anondb.data.transactions import Dataset
from anondb.engine import reads
from anondb.engine.files import write_file
from anondb.engine.trees import exp

VALUES, RANGES, BOTH = "attributes", "ranges", "both"
MOST_VALUES = 1000  # of a category that is grouped by; sessions give no bounds beyond
BANDS = 4  # ranges of an attribute; every other one is asked with items
FREQUENT, ITEMS = 12, 20  # the most frequent values and items, which are asked with each other

Question = tuple[str, exp.Select]
"""Its kind, and the statement."""


def write_questions(
    file: Path, attributes: Sequence[Attribute], dataset: Dataset, *, held: str, people: str
) -> tuple[str, ...]:
    """Write the questions about attributes, and about these and the most frequent items, into a file; return their kinds.
    ``held`` and ``people`` are the tables of the items and of the attributes."""
    frequent = [dataset.labels[i] for i in (-dataset.supports).argsort(kind="stable")[:ITEMS]]
    columns = {"id": dataset.id_column, "item": dataset.item_column}
    asked = questions(attributes, frequent, held=held, people=people, **columns)
    write_file(file, "".join(f"{question.sql('duckdb')};\n" for _, question in asked))
    return tuple(kind for kind, _ in asked)


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

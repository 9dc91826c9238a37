"""Questions about persons of some ages, sexes or towns: what the release answers, beside the truth."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.data.records import Attribute, Records
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, reads
from anondb.release.objects import StoredRelease
from anondb.report.contents import Bounds, Where, bounds_of, value_words

BANDS = 3  # of a number or a date, of about equally many persons; also how many categories are asked for
MOST_ATTRIBUTES, ITEMS = 6, 2


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


def conditional_questions(
    engine: DuckDBEngine, release: StoredRelease, dataset: Dataset, records: Records, counts: tuple[Bounds, ...]
) -> tuple[Conditional, ...]:
    """Ask how many persons hold an item, of those with some values of one attribute; the first of ``counts``, the most
    frequent first, say for which."""
    number = {label: i for i, label in enumerate(dataset.labels)}
    ranged = {a.name for a in records.attributes if a.is_range}
    asked = []
    for item in [c.items[0] for c in counts if c.items[0] in number][:ITEMS]:
        holding = reads.rows(dataset.transactions, "tid", where=exp.column("item").eq(exp.convert(number[item])))
        held = engine.select(holding, "who holds an item")["tid"].astype(np.int64) - 1
        for where, fits in (w for a in records.attributes[:MOST_ATTRIBUTES] for w in _conditions(a)):
            answer = bounds_of(engine, release.schema, (item,), (where,))
            words = value_words(where, ranged=where[0] in ranged)
            asked.append(Conditional(item, words, int(fits[held].sum()), answer))
    return tuple(asked)


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

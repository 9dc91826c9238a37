"""The promise of Multi-Anatomy: l-diverse multi-dimensional anatomy."""

from __future__ import annotations

import numbers
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from anondb.errors import InputError
from anondb.models import INTEGER, MAX_PARAMETER, NUMBER, TEXT, Model, check_count, digits, parameter

EMPTY_VALUES = ("count", "ignore")
_NUMBER = re.compile(r"\+?\d{1,12}(\.\d{1,9}|/\d{1,10})?$")


def parse_l(value: Any) -> Fraction:
    """Read l, an exact number of at least 1, from an integer, a Fraction, or a text such as ``5/2`` or ``2.5``. A float
    stands for its shortest decimal form: ``2.1`` means 21/10. Raises InputError: ``bad_parameter``, with the offending
    value, since a parameter is not data."""
    result: Fraction | None = None
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        result = Fraction(value)
    elif isinstance(value, str | float) and _NUMBER.match(str(value).strip()):
        text = str(value).strip()
        result = None if re.search(r"/0+$", text) else Fraction(text)
    if result is None or result < 1 or max(result.numerator, result.denominator) > MAX_PARAMETER:
        shown = repr(value) if len(repr(value)) <= 40 else "a value of more than 40 characters"
        raise InputError(
            f"l must be a number from 1 to {MAX_PARAMETER}, such as 4 or 5/2, not {shown}.", code="bad_parameter"
        )
    return result


def _columns(value: Any) -> int | None:
    number = None if value is None else int(check_count("columns", value))
    if number is not None and number < 2:
        raise InputError(f"columns must be at least 2, not {number}.", code="bad_parameter")
    return number


def _empty_values(value: Any) -> str:
    if value not in EMPTY_VALUES:
        raise InputError(f"empty_values must be count or ignore, not {value!r}.", code="bad_parameter")
    return str(value)


@dataclass(frozen=True)
class Anatomy(Model):
    """l-diverse multi-dimensional anatomy (*Privacy Preservation in Transaction Databases based on Anatomy technique*,
    ICCSE 2010, Definitions 2 to 5; docs/algorithms/models.md#anatomy).

    The items are partitioned into columns and the transactions into buckets. The value of a transaction in a column is the
    set of its items there. The promise holds if in each bucket and each column the most frequent value v keeps
    count(v) <= |bucket| / l: an attacker who knows the bucket of a person and the values of the other columns guesses the
    value of a column correctly with a probability of at most 1/l. An anatomy has at least two columns, and every
    transaction is in exactly one bucket.

    Attributes:
        l: a number of at least 1, exact; l = 1 promises nothing.
        columns: number of columns; None leaves it to the release, which has at least two.
        empty_values: ``count`` treats the empty set as a value like any other. ``ignore`` leaves it out of the condition;
            an attacker may then infer that a person has *no* item of a column with a probability above 1/l.

    Raises:
        InputError: l below 1, fewer than two columns, or an unknown way to treat empty values.
    """

    l: Fraction = parameter(
        Fraction(2),
        "At most one in l transactions of a bucket has the same value: a number such as 4 or 5/2 (default 2).",
        "L",
        check=lambda _, value: parse_l(value),
        kinds=(INTEGER, NUMBER, TEXT),
        read=digits,
    )
    columns: int | None = parameter(
        None,
        "Number of columns that the items are divided into.",
        "N",
        check=lambda _, value: _columns(value),
        kinds=(INTEGER, TEXT),
        read=digits,
    )
    empty_values: str = parameter(
        "count",
        "Whether the empty value of a column counts.",
        check=lambda _, value: _empty_values(value),
        choices=EMPTY_VALUES,
    )
    name: ClassVar[str] = "anatomy"
    layout: ClassVar[str] = "buckets"

    def completed(self, columns: Any = None, empty_values: str | None = None) -> Anatomy:
        """Complete the model with the options of a policy: the number of columns, and how empty values count. Raises
        InputError: ``bad_parameter``, also if model and options contradict each other."""
        number: Any = columns if isinstance(columns, numbers.Number) else None
        if number is not None and self.columns not in (None, number):
            raise InputError(f"columns is {number} here and {self.columns} in the model.", code="bad_parameter")
        model = self if number is None else replace(self, columns=number)
        return model if empty_values is None else replace(model, empty_values=empty_values)

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest; a fractional l is a text such as ``5/2``."""
        return {**super().parameters(), "l": int(self.l) if self.l.denominator == 1 else str(self.l)}

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        columns = "" if self.columns is None else f" in {self.columns} columns"
        ignoring = "" if self.empty_values == "count" else ", empty values ignored"
        return f"{self.l}-diverse anatomy{columns}{ignoring}"

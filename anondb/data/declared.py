"""What an owner declares of quasi-identifiers beside their values: weights in the NCP, and domains (spec 2.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from sqlglot import exp

from anondb.data.constraints import load_weights
from anondb.data.sources import open_source, reading
from anondb.engine import Engine
from anondb.errors import InputError

Domain = tuple[str, str]
_Given = TypeVar("_Given")
_MICROSECONDS = 1_000_000


def attribute_weights(engine: Engine, given: Any, attributes: Collection[str]) -> dict[str, Fraction]:
    """The weights of attributes by their lower-case names: ``(attribute, weight)`` or a mapping; none where none are given.

    Raises:
        InputError: ``bad_weight``; ``unknown_attribute`` for a name that is no quasi-identifier.
    """
    if given is None:
        return {}
    return _of(attributes, load_weights(engine, given, "attribute"), "weights")


def attribute_domains(engine: Engine, given: Any, attributes: Collection[str]) -> dict[str, Domain]:
    """The declared domains of attributes by their lower-case names: ``(attribute, low, high)``, or a mapping of names to
    both ends; the ends as texts.

    Raises:
        InputError: ``bad_domain`` for an end that is missing; ``unknown_attribute``.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        rows = [(name, *ends) for name, ends in given.items()]
        texts = [tuple(None if x is None else str(x) for x in row) for row in rows]
    else:
        with open_source(engine, given, "domains") as source:
            names = [source.column(c, c) for c in ("attribute", "low", "high")]
            inner = exp.Subquery(this=source.query.copy(), alias=exp.TableAlias(this=exp.to_identifier("source")))
            columns = [exp.cast(exp.column(n, quoted=True), "VARCHAR").as_(f"c{i}") for i, n in enumerate(names)]
            with reading(source.name):
                found = engine.select(exp.select(*columns).from_(inner), f"reading {source.name}")
            texts = list(zip(*(_nones(found[f"c{i}"]) for i in range(3)), strict=True))
    if any(len(row) != 3 or None in row for row in texts) or len({row[0] for row in texts}) < len(texts):
        raise InputError(
            "A domain has no attribute, lacks an end, or is one of two for the same attribute.",
            code="bad_domain",
            hint="Give (attribute, low, high), one row for each attribute.",
        )
    return _of(attributes, {str(name): (str(low), str(high)) for name, low, high in texts}, "domains")


def domain_of_numbers(name: str, domain: Domain, decimals: int) -> tuple[int, int]:
    """Both ends in units of the column's last decimal.

    Raises:
        InputError: ``bad_domain``: they are no numbers, have more decimals than the column, or are too long.
    """
    try:
        low, high = (Decimal(text).scaleb(decimals) for text in domain)
        if all(x == x.to_integral_value() and abs(x) < 10**18 for x in (low, high)):
            return int(low), int(high)
    except (InvalidOperation, ValueError):
        pass
    raise InputError(
        f"The domain of {name!r} must be two numbers with at most as many decimals as the column has.",
        code="bad_domain",
    )


def domain_of_dates(name: str, domain: Domain) -> tuple[int, int]:
    """Both ends in microseconds since 1970.

    Raises:
        InputError: ``bad_domain``: they are no ISO dates.
    """
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    try:
        low, high = (datetime.fromisoformat(text).replace(tzinfo=UTC) - begin for text in domain)
    except ValueError:
        raise InputError(f"The domain of {name!r} must be two dates, as in 2001-12-31.", code="bad_domain") from None
    days = 86_400 * _MICROSECONDS
    return tuple(x.days * days + x.seconds * _MICROSECONDS + x.microseconds for x in (low, high))  # type: ignore[return-value]


def _of(attributes: Collection[str], given: Mapping[str, _Given], what: str) -> dict[str, _Given]:
    """What was given by lower-case name, all of them quasi-identifiers."""
    names = {a.lower() for a in attributes}
    found = {name.lower(): value for name, value in given.items()}
    unknown = len(set(found) - names)
    if unknown or len(found) < len(given):
        raise InputError(
            f"{unknown or 'Some'} of the {what} are not of one quasi-identifier each.",
            code="unknown_attribute",
            hint="Name the columns as in --quasi-identifiers.",
        )
    return found


def _nones(column: Any) -> Sequence[str | None]:
    masked = np.ma.getmaskarray(column).tolist()
    return [None if m else str(v) for v, m in zip(np.ma.getdata(column).tolist(), masked, strict=True)]

"""What the first look at a source finds. A process that only shows it needs no engine, whose imports take longer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from anondb.models import json_of
from anondb.reading.account import Account, Finding

FREQUENT = 60
_EXACT = 12  # more different lengths are shown in ranges


@dataclass(frozen=True)
class Counts:
    """Counts of the original transactions. They are for their owner."""

    # how many persons have each number of items, ascending; 0 for persons without items
    lengths: tuple[tuple[int, int], ...]
    # the items that most persons have, at most ``FREQUENT`` of them, each with its persons
    frequent: tuple[tuple[str, int], ...]
    # the persons by each attribute: its name, and the values or their groups with their persons
    attributes: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()

    def ranges(self) -> dict[str, int]:
        """The persons by their number of items; in ranges that double if there are many different numbers."""
        if len(self.lengths) <= _EXACT:
            return {f"{length:,}": persons for length, persons in self.lengths}
        doubled = groupby(self.lengths, key=lambda pair: (pair[0] - 1).bit_length() if pair[0] else -1)
        return {_name(bits): sum(persons for _, persons in pairs) for bits, pairs in doubled}


def _name(bits: int) -> str:
    """The range of the numbers of items above half of ``2**bits``, up to that; 0 below."""
    low, high = (2 ** (bits - 1) + 1, 2**bits) if bits > 0 else (bits + 1, bits + 1)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


@dataclass(frozen=True)
class Peek:
    """How a file or a table would be read. For its owner: it shows persons.

    Attributes:
        file: the name of the file or the table.
        format: its format, with the compression; ``table``.
        reading: the options that it needs, by name, ``id`` and ``item`` among them.
        reasons: why, in sentences.
        persons: the first persons, each with the id and the items, or the values of a table of people.
        columns: of a table of people: each column with the role that is proposed, and why.
        account: what was read of a file; None if it cannot be read so, and for a table.
        findings: what the owner would have to confirm.
        problem: why it cannot be read so.
        command: the command that makes a release of it; for a table, SOURCE stands for its database.
        counts: how many items persons have, and how many persons have an item; None if it cannot be read so.
    """

    file: str
    format: str
    reading: Mapping[str, Any]
    reasons: tuple[str, ...]
    command: str
    persons: tuple[tuple[str, tuple[str, ...]], ...] = ()
    account: Account | None = None
    findings: tuple[Finding, ...] = field(default=())
    columns: tuple[tuple[str, str, str], ...] = ()
    problem: str | None = None
    counts: Counts | None = None

    def to_json(self) -> dict[str, Any]:
        """The proposal as JSON values."""
        return {
            **json_of(vars(self)),
            "persons": [{"id": person, "items": list(items)} for person, items in self.persons],
            "columns": [{"name": name, "role": role, "why": why} for name, role, why in self.columns],
        }

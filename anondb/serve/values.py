"""DuckDB's types as PostgreSQL's, and values as bytes of the protocol, which psycopg encodes and decodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import adapters, pq
from psycopg.adapt import Transformer

TEXT = 1043  # varchar, as in DuckDB's pg_type
TEXTS = 1009
"""The type of a list of texts, which clients send for parameters."""
_OIDS = {
    "BOOLEAN": 16,
    "BLOB": 17,
    **dict.fromkeys(("BIGINT", "UINTEGER"), 20),
    **dict.fromkeys(("TINYINT", "UTINYINT", "SMALLINT"), 21),
    **dict.fromkeys(("INTEGER", "USMALLINT"), 23),
    "FLOAT": 700,
    "DOUBLE": 701,
    "DATE": 1082,
    "TIME": 1083,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), 1114),
    "TIMESTAMP WITH TIME ZONE": 1184,
    **dict.fromkeys(("HUGEINT", "UHUGEINT", "UBIGINT", "DECIMAL"), 1700),
}
_SIZES = {16: 1, 20: 8, 21: 2, 23: 4, 700: 4, 701: 8, 1082: 4, 1083: 8, 1114: 8, 1184: 8}
Encoder = Callable[[Any], bytes]


@dataclass(frozen=True)
class Type:
    """A type of PostgreSQL."""

    oid: int  # its number in ``pg_type``
    size: int = -1  # the bytes of a value; -1 if they differ
    modifier: int = -1  # the precision and scale of a decimal; -1 for none

    @classmethod
    def of(cls, kind: str) -> Type:
        """The type for a DuckDB type; what PostgreSQL has no scalar for, such as lists, is a text."""
        name, _, rest = kind.partition("(")
        oid = TEXT if kind.endswith("]") else _OIDS.get(name, TEXT)
        if name != "DECIMAL" or oid == TEXT:
            return cls(oid, _SIZES.get(oid, -1))
        precision, scale = rest.rstrip(")").split(",")
        return cls(oid, -1, (int(precision) << 16 | int(scale)) + 4)

    def encoder(self, binary: bool) -> Encoder:
        """What makes a value, which is not None, the bytes of a format."""
        if not binary or self.oid == TEXT:
            return lambda value: _text(value).encode()
        dumper = adapters.get_dumper_by_oid(self.oid, pq.Format.BINARY)(object)
        return lambda value: bytes(dumper.dump(value) or b"")


def _text(value: Any) -> str:
    """A value as PostgreSQL writes it; lists and structures as JSON."""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, float | list | tuple | dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def decoded(values: Sequence[bytes | None], oids: Sequence[int], formats: Sequence[int]) -> list[Any]:
    """The parameters of a query, as Python values, from the bytes of each (None for NULL). A format is 1 for binary: for
    each, for all if there is one, or none: all are texts. Raises ValueError: there are more or fewer types or formats."""
    forms = list(formats) if len(formats) > 1 else list(formats or [0]) * len(values)
    read = Transformer()
    return [
        None if value is None else read.get_loader(oid, pq.Format(form)).load(value)
        for value, oid, form in zip(values, oids, forms, strict=True)
    ]

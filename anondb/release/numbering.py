"""Number the transactions of a release at random."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine import Engine, Table

KEY_BYTES = 32
CHUNK = 2**20  # tids whose draws are in memory at once: 12 MB
DRAWS, NUMBERS = "release_draws", "release_numbers"


def number_transactions(engine: Engine, ids: Table | exp.Query, key: bytes | None) -> Table:
    """Create a work table ``(tid, transaction_id)`` that numbers the tids 1..N in a keyed random order.

    Each tid gets eight bytes of the SHAKE-256 stream of the key and the number of its chunk of tids; the numbers follow the
    order of those bytes. Without the key, a number reveals nothing. The key comes from the operating system unless a test
    injects it; it appears in no statement or table, and is not kept. The bytes are in a work table until they are ordered.
    """
    secret = os.urandom(KEY_BYTES) if key is None else key
    span = engine.query("release/tid_range", {"ids": ids})
    low, high = int(span["first_tid"][0]), int(span["last_tid"][0])
    draws = engine.put(DRAWS, _draws(secret, low, min(high, low + CHUNK - 1), 0))
    for chunk, first in enumerate(range(low + CHUNK, high + 1, CHUNK), 1):
        columns = _draws(secret, first, min(high, first + CHUNK - 1), chunk)
        with engine.registered({name: values for name, (_, values) in columns.items()}) as source:
            rows = exp.select(*columns).from_(source.expression())
            engine.run(exp.Insert(this=draws.expression(), expression=rows), "numbering the transactions")
    numbered = engine.create(NUMBERS, "release/random_numbers", {"ids": ids, "draws": draws})
    engine.drop(draws)
    return numbered


def _draws(secret: bytes, first: int, last: int, chunk: int) -> dict[str, tuple[str, npt.NDArray[np.generic]]]:
    """The columns ``tid`` and ``drawn`` of a chunk of tids."""
    tids = np.arange(first, last + 1, dtype=np.int32)
    stream = hashlib.shake_256(secret + chunk.to_bytes(8, "little")).digest(8 * len(tids))
    return {"tid": ("INTEGER", tids), "drawn": ("UBIGINT", np.frombuffer(stream, dtype="<u8"))}

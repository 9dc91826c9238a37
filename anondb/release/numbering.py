"""Number the transactions of a release at random."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import numpy.typing as npt

from anondb.engine import Engine, Rows, Table, reads

KEY_BYTES = 32
CHUNK = 2**20  # tids whose draws are in memory at once: 12 MB
DRAWS, NUMBERS = "release_draws", "release_numbers"


def number_transactions(engine: Engine, ids: Rows) -> Table:
    """Create a work table ``(tid, transaction_id)`` that numbers the tids 1..N in a keyed random order.

    The numbers follow the order of eight bytes for each tid: those at its place in the SHAKE-256 stream of the key and the
    number of its chunk of tids. Without the key, a number reveals nothing. The key is random; it appears in no statement or
    table, and is not kept. The bytes are in a work table until they are ordered. Only chunks with a tid are drawn, however
    large or negative the tids are.
    """
    secret = new_key()
    chunks = engine.query("release/tid_chunks", {"ids": ids}, chunk_size=CHUNK)
    first, *others = (
        zip(chunks["chunk"].tolist(), chunks["last_tid"].tolist(), strict=True) if len(chunks["chunk"]) else [(0, -1)]
    )
    draws = engine.put(DRAWS, _draws(secret, *first))  # an empty table would get rows that DuckDB 2.0 believes are NULL
    for chunk, last in others:
        engine.insert(draws, _draws(secret, chunk, last))
    numbered = engine.create(
        NUMBERS,
        reads.rows(
            reads.among(draws, ids, "tid", "tid, drawn"),
            "tid, CAST(row_number() OVER (ORDER BY drawn, tid) AS INTEGER) AS transaction_id",
        ),
    )
    engine.drop(draws)
    return numbered


def new_key() -> bytes:
    """A key of random bytes from the operating system."""
    return os.urandom(KEY_BYTES)


def _draws(secret: bytes, chunk: int, last: int) -> dict[str, tuple[str, npt.NDArray[np.generic]]]:
    """The columns ``tid`` and ``drawn`` of a chunk of tids up to the last one."""
    tids = np.arange(chunk * CHUNK, last + 1, dtype=np.int32)
    stream = hashlib.shake_256(secret + chunk.to_bytes(8, "little", signed=True)).digest(8 * len(tids))
    return {"tid": ("INTEGER", tids), "drawn": ("UBIGINT", np.frombuffer(stream, dtype="<u8"))}

"""Number the transactions of a release at random."""

from __future__ import annotations

import hashlib
import os

import numpy as np
from sqlglot import exp

from anondb.engine import Engine, Table

KEY_BYTES = 32


def number_transactions(engine: Engine, ids: Table | exp.Query, key: bytes | None) -> Table:
    """Create a work table ``(tid, transaction_id)`` that numbers the tids 1..N in a keyed random order.

    In tid order, each tid gets eight bytes of the SHAKE-256 stream of a key; the numbers follow the order of those bytes.
    Without the key, a number reveals nothing. The key comes from the operating system unless a test injects it; it
    appears in no statement or table, and is not kept.
    """
    tids = np.sort(engine.query("release/tids", {"ids": ids})["tid"])
    tids = tids[np.diff(tids, prepend=tids[:1] - 1) > 0]  # each once; np.unique hashes, which takes ten times as long
    stream = hashlib.shake_256(os.urandom(KEY_BYTES) if key is None else key).digest(8 * len(tids))
    drawn = np.frombuffer(stream, dtype="<u8")
    order = np.argsort(drawn)  # not stable: a stable sort takes five times as long
    if (np.diff(drawn[order]) == 0).any():  # one key in 10^9 for 200,000 transactions
        order = np.argsort(drawn, kind="stable")
    numbers = np.empty(len(tids), dtype=np.int32)
    numbers[order] = np.arange(1, len(tids) + 1, dtype=np.int32)
    return engine.put("release_numbers", {"tid": ("INTEGER", tids), "transaction_id": ("INTEGER", numbers)})

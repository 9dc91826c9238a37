"""What only many files show: stale memory in gaps, and order. A sample runs always, all of it in ``make nightly``."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from release.cases import dataset, keyed, recoding

from anondb.engine import DuckDBEngine, Engine
from anondb.models.transactional import KmAnonymity
from anondb.release.freeze import FrozenRelease, freeze
from anondb.release.inspect import inspect
from anondb.release.objects import release_schema
from anondb.release.publish import publish

RARE = "ѲѴѪѬѨѮѰ"  # letters that nothing else in a file has
KEY = bytes(range(32))


def release_of(owner: Engine, n: int) -> FrozenRelease:
    """Transactions whose raw items are written in a rare alphabet, under plain labels."""
    rng = random.Random(n)
    raw = sorted({"".join(rng.choices(RARE, k=rng.randint(3, 40))) for _ in range(300)})
    transactions = [rng.sample(raw, rng.randint(1, 9)) for _ in range(n)]
    ids = ["".join(rng.choices(RARE, k=12)) + str(i) for i in range(n)]
    with owner.transaction():
        data = dataset(owner, transactions, ids)
        # the members are named plainly, as if the taxonomy's leaves were: nothing raw may reach the file
        blocks = {f"group {g}": raw[g::20] for g in range(20)}
        whole = recoding(data, blocks)
        plain = {x: f"member {i}" for i, x in enumerate(raw)}
        data = data.__class__(**{**vars(data), "labels": tuple(plain[x] for x in data.labels)})
        whole = whole.__class__(**{**vars(whole), "member_labels": tuple(plain[x] for x in whole.member_labels)})
        with keyed(KEY):
            return freeze(owner, data, whole, KmAnonymity(), release_schema=release_schema("shop", "spring"))


def check_bytes(owner: Engine, place: Path, repeats: int) -> None:
    release = release_of(owner, 3000)
    fragments = re.compile("|".join(RARE).encode())
    bodies = set()
    for n in range(repeats):
        with keyed(KEY):
            path = publish(owner, release.schema, place / f"{n}.duckdb").path
        content = path.read_bytes()
        assert not re.search(b"(?:" + fragments.pattern + b"){2}", content)
        bodies.add(content[12_288:])
        path.unlink()
    assert len(bodies) == 1
    assert inspect(publish(owner, release.schema, place / "last.duckdb").path).clean


@pytest.mark.slow
def test_three_files_are_the_same(owner: Engine, tmp_path: Path) -> None:
    check_bytes(owner, tmp_path, 3)


@pytest.mark.nightly
def test_twenty_files_are_the_same(owner: Engine, tmp_path: Path) -> None:
    check_bytes(owner, tmp_path, 20)


def test_the_order_says_nothing_of_the_source(owner: Engine, tmp_path: Path) -> None:
    """Each transaction has an item that no other has, so that its place in the source is known."""
    n = 4000
    labels = np.random.default_rng(7).permutation(n)  # the files sort rows by item, whose order must not be the source's
    with owner.transaction():
        data = dataset(owner, [[f"i{label:05d}"] for label in labels])
        blocks = {f"i{label:05d}": [f"i{label:05d}"] for label in labels}
        release = freeze(
            owner, data, recoding(data, blocks), KmAnonymity(1, 1), release_schema=release_schema("shop", "spring")
        )
    path = publish(owner, release.schema, tmp_path / "sealed.duckdb").path
    reader = DuckDBEngine.open(path, read_only=True)
    stored = "SELECT transaction_id, substr(item, 2)::INTEGER FROM transaction_items JOIN labels USING (item_id) ORDER BY {}"
    place = np.argsort(labels)
    for order in ("transaction_items.rowid", "transaction_id"):
        rows = reader._connection.execute(stored.format(order)).fetchall()
        numbers, places = (np.array(c) for c in zip(*((number, place[label]) for number, label in rows), strict=True))
        for a, b in ((numbers, places), (places[1:], places[:-1])):
            assert abs(np.corrcoef(a, b)[0, 1]) < 4 / n**0.5
    reader.close()

"""The proof pack returns the violations of a promise, by the definition, and nothing else."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import duckdb
import pytest
from portions import some
from reference import constraint_satisfied, count_rare_transactions, threats
from release.proofs import proven

from anondb.data.constraints import PrivacyConstraints
from anondb.errors import InputError
from anondb.promises.proof_pack import proof_directory, script, write_proof
from anondb.promises.spec import Shown

BASE = {"release_id": "r1", "transactions": "9"}
DIGESTS = ("0" * 64, "content:" + "1" * 64)


def violations(rows: Sequence[Sequence[str]], text: str, members: Sequence[tuple[str, str]] = ()) -> list[tuple[str, ...]]:
    with duckdb.connect() as file:
        file.execute("CREATE TABLE manifest AS SELECT 'release_id' AS key, 'r1' AS value")
        file.execute("CREATE TABLE transactions (transaction_id INTEGER, item VARCHAR, copies INTEGER)")
        file.execute(f"CREATE TABLE transaction_ids AS SELECT range AS transaction_id FROM range({len(rows)})")
        file.execute("CREATE TABLE released_items (released_item VARCHAR, item VARCHAR)")
        for table, values in (
            ("transactions", [(n, i, 1) for n, t in enumerate(rows) for i in t]),
            ("released_items", members),
        ):
            if values:
                file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
        return [(tuple(items), support) for _, items, support in proven(file, text)]


def random_rows(seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [[x for x in "abcde'" if rng.random() < 0.45] for _ in range(rng.randint(0, 14))]


@pytest.mark.slow
@pytest.mark.parametrize("m", some([1, 2, 3, 4], 1, 3, check=()))
def test_km(m: int) -> None:
    for seed in range(10):
        rows = random_rows(seed)
        k = 2 + seed % 4
        found = violations(rows, script({**BASE, "model": "km", "k": str(k), "m": str(m)}))
        wanted = {x: sum(set(x) <= set(t) for t in rows) for x in threats(rows, k, m)}
        assert dict(found) == wanted and len(found) == len(wanted)


@pytest.mark.slow
def test_km_with_m_infinite() -> None:
    for seed in range(20):
        rows = random_rows(seed)
        k = 2 + seed % 4
        found = violations(rows, script({**BASE, "model": "km", "k": str(k), "m": "inf"}))
        assert len(found) == count_rare_transactions(rows, k)
        assert all(n == sum(set(x) <= set(t) for t in rows) < k for x, n in found)


@pytest.mark.slow
def test_privacy_constraints_of_the_owner_and_of_pgen() -> None:
    seen = set()
    for seed in range(20):
        rows = random_rows(seed)
        rng = random.Random(seed)
        sets = [sorted(rng.sample("abcde'", rng.randint(1, 3))) for _ in range(3)]
        members = [(x, x) for x in sorted({x for t in rows for x in t})]
        manifest = {**BASE, "model": "constraints", "k": "3"}
        found = violations(rows, script(manifest, Shown(PrivacyConstraints.of(sets, ["1", "2", "3"]))), members)
        holds = all(constraint_satisfied(rows, set(p), 3) for p in sets)
        assert (not found) == holds
        seen.add(holds)
        assert len(violations(rows, script(manifest, Shown("pgen")))) == count_rare_transactions(rows, 3)
    assert seen == {True, False}


def test_constraints_stay_in_the_house() -> None:
    with pytest.raises(InputError) as caught:
        script({**BASE, "model": "constraints", "k": "3"})
    assert caught.value.code == "no_proof" and "include_constraints=True" in str(caught.value)


def test_k() -> None:
    for seed in range(12):
        rows = [t[:2] for t in random_rows(seed)]
        text = script({**BASE, "model": "k", "k": "3"})
        classes = Counter(tuple(sorted(t)) for t in rows)
        assert dict(violations(rows, text)) == {t: n for t, n in classes.items() if n < 3}


@pytest.mark.slow
@pytest.mark.parametrize("p", [1, 2, 3])
def test_hkp(p: int) -> None:
    seen = set()
    for seed in range(12):
        rows, k, h = random_rows(seed), 2 + seed % 2, Fraction(1 + seed % 3, 3)
        manifest = {**BASE, "model": "hkp", "k": str(k), "p": str(p), "h": str(h)}
        found = violations(rows, script(manifest, Shown(private=("d", "e"))))
        wanted = {}
        for size in range(1, p + 1):
            for x in combinations("'abc", size):
                n = sum(set(x) <= set(t) for t in rows)
                if 0 < n < k:
                    wanted[x] = n
                for q in "de":
                    both = sum({*x, q} <= set(t) for t in rows)
                    if both > h * n:
                        wanted[(*x, q)] = both
        assert dict(found) == wanted and len(found) == len(wanted)
        seen.add(bool(wanted))
    assert True in seen
    for shown, text in ((Shown(), str(p)), (Shown(private=("d",)), "inf")):
        with pytest.raises(InputError):
            script({**manifest, "p": text}, shown)


def test_another_release_is_noticed() -> None:
    text = script({**BASE, "release_id": "r2", "model": "km", "k": "2", "m": "1"})
    assert violations([["a"], ["a"]], text) == [((), None)]


def test_a_page_that_is_no_proofs_stays(tmp_path: Path) -> None:
    """A proof replaces an earlier one in its directory, and nothing else."""
    manifest = {**BASE, "model": "km", "k": "2", "m": "1"}
    for name in ("proof", "mine"):
        (tmp_path / name).mkdir()
    for _ in range(2):
        write_proof(proof_directory(tmp_path / "proof", manifest), manifest, DIGESTS)
    (tmp_path / "mine" / "README.md").write_text("mine", "utf-8")
    with pytest.raises(InputError) as caught:
        proof_directory(tmp_path / "mine", manifest)
    assert caught.value.code == "bad_path"


def test_an_unknown_model_has_no_proof() -> None:
    with pytest.raises(InputError) as caught:
        script({**BASE, "model": "hope"})
    assert caught.value.code == "no_proof"


def test_the_pack(tmp_path: Path) -> None:
    manifest = {**BASE, "model": "km", "k": "2", "m": "2"}
    place = proof_directory(tmp_path / "proof", manifest)
    files = write_proof(place, manifest, DIGESTS)
    assert sorted(p.name for p in files) == ["README.md", "verify_km.sql"]
    page = (place / "README.md").read_text()
    for words in ("no row", "taxonomy", "Truthfulness", "Coverage", "r1", "k = 2, m = 2", *DIGESTS):
        assert words in " ".join(page.split())
    assert write_proof(place, manifest, DIGESTS) == files
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "none" / "proof"):
        with pytest.raises(InputError):
            proof_directory(wrong, manifest)


def test_pairs_of_a_combination_are_in_order() -> None:
    text = script({**BASE, "model": "km", "k": "9", "m": "2"})
    found = [x for x, _ in violations([["b", "a", "c"]], text)]
    assert found == [("a",), ("b",), ("c",), *combinations("abc", 2)] or sorted(found) == sorted(
        [("a",), ("b",), ("c",), *combinations("abc", 2)]
    )

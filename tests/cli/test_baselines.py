"""The algorithms that the papers compare with, and (h,k,p)-coherence, as a user runs them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from cli.shop import BASKETS, Run, baskets
from reference_baselines import mm

import anondb
from anondb.errors import InputError
from anondb.models.transactional import HkpCoherence

SOLD = ("--transactions", "sales", "--queries", 20, "--k", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        pytest.param(
            "apriori", [["Y", "a"], ["Y", "a"], ["Y", "b"], ["Y", "b"], ["a", "b"], ["a", "b"]], marks=pytest.mark.slow
        ),
        pytest.param(
            "vpa", [["Y", "a"], ["Y", "a"], ["Y", "b"], ["Y", "b"], ["a", "b"], ["a", "b"]], marks=pytest.mark.slow
        ),
        pytest.param("mm", [["a"], ["a"], ["a", "b"], ["a", "b"], ["b"], ["b"]], marks=pytest.mark.slow),
        ("pcta", [["(c,d)", "a"], ["(c,d)", "a"], ["(c,d)", "b"], ["(c,d)", "b"], ["a", "b"], ["a", "b"]]),
    ],
)
def test_km(run: Run, shop: Path, tmp_path: Path, algorithm: str, expected: list[list[str]]) -> None:
    taxonomy = ("--taxonomy", "food") if algorithm in ("apriori", "vpa") else ()
    sealed = tmp_path / "sealed.duckdb"
    found = run(
        *("anonymize", shop, *SOLD, *taxonomy, "--algorithm", algorithm, "--release", "new"),
        *("--publish", sealed, "--json"),
    )
    assert found.code == 0 and found.json["algorithm"] == algorithm and found.json["verified"]
    assert baskets(sealed) == expected
    assert run("verify", sealed).code == 0
    assert run("explain", shop, "--release", "new", "--item", "c").code == 0


@pytest.mark.parametrize(("algorithm", "code"), [("apriori", "no_taxonomy"), ("vpa", "no_taxonomy")])
def test_needs_a_taxonomy(run: Run, shop: Path, algorithm: str, code: str) -> None:
    found = run("anonymize", shop, *SOLD, "--algorithm", algorithm, "--json")
    assert found.code == 2 and found.json["error"]["code"] == code


@pytest.mark.parametrize("algorithm", ["apriori", "vpa"])
def test_infeasible(run: Run, shop: Path, algorithm: str) -> None:
    words = ("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--k", 7, "--algorithm", algorithm)
    found = run(*words, "--json", "--release", "new")
    assert found.code == 3 and found.json["error"]["code"] == "infeasible"
    assert "Only 6 transactions hold an item, fewer than k = 7" in found.err


# ---------------------------------------------------------------------- (h,k,p)-coherence


@pytest.fixture
def private(shop: Path) -> Path:
    """The shop with the private item s in the baskets 1, 3 and 5."""
    with duckdb.connect(str(shop)) as connection:
        connection.execute("INSERT INTO sales VALUES (1, 's'), (3, 's'), (5, 's')")
        connection.execute("CREATE TABLE secrets AS SELECT 's' AS item UNION ALL SELECT 'never sold'")
    return shop


HKP = ("--model", "hkp", "--k", 2, "--p", 2, "--h", "1/2", "--sensitive", "secrets")


@pytest.mark.slow
def test_hkp(run: Run, private: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.duckdb"
    made = run(
        *("anonymize", private, "--transactions", "sales", "--queries", 20, *HKP),
        *("--release", "coherent", "--publish", sealed, "--json"),
    )
    assert made.code == 0 and made.json["algorithm"] == "mm"
    assert made.json["model"] == {"name": "hkp", "h": "1/2", "k": 2, "p": 2}
    assert made.json["warnings"] == ["1 of 2 sensitive items do not occur in the data."]
    sold = [[*basket, "s"] if n in (1, 3, 5) else list(basket) for n, basket in BASKETS.items()]
    _, expected = mm(sold, ["s"], Fraction(1, 2), 2, 2)
    assert baskets(sealed) == sorted(map(sorted, expected))
    assert run("verify", private, "--release", "coherent").code == 0
    assert run("verify", private, "--release", "coherent", "--against-source").code == 0
    refused = run("verify", sealed, "--json")  # a sealed file does not say which items are private
    assert refused.code == 2 and refused.json["error"]["code"] == "no_sensitive"
    listed = tmp_path / "secrets.csv"
    listed.write_text("item\ns\n")
    assert run("verify", sealed, "--sensitive", listed).out.startswith("(1/2,2,2)-coherence: holds\n")
    source = run("verify", private, "--transactions", "sales", *HKP, "--witnesses", 9, "--json")
    assert source.code == 4 and {"items": ["a"], "support": 4} in source.json["witnesses"]


def test_bad_private_items(run: Run, private: Path) -> None:
    words = ("anonymize", private, "--transactions", "sales", "--k", 2, "--release", "new", "--json")
    missing = run(*words, "--model", "hkp")
    assert missing.code == 2 and missing.json["error"]["code"] == "no_sensitive"
    other = run(*words, "--sensitive", "secrets", "--algorithm", "mm")
    assert other.code == 2 and "sensitive applies to the models hkp" in other.err
    with duckdb.connect(str(private)) as connection:
        connection.execute("INSERT INTO secrets VALUES (NULL)")
    null = run(*words, *HKP)
    assert null.code == 2 and null.json["error"]["code"] == "null_item"
    for h in ("1.5", "x", "-1"):
        assert run(*words, "--model", "hkp", "--sensitive", "secrets", "--h", h).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("h", ["0", "1"])
def test_h_at_its_ends(run: Run, private: Path, h: str) -> None:
    words = ("anonymize", private, "--transactions", "sales", "--model", "hkp", "--k", 2, "--p", 1, "--h", h)
    made = run(*words, "--sensitive", "secrets", "--release", "new", "--json")
    if h == "1":
        assert made.code == 0 and made.json["suppressed_items"] == 0  # every item is in two baskets
    else:
        assert made.code == 0 and made.json["suppressed_items"] == 4  # every public item comes with s somewhere


def test_every_item_private(tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "new.duckdb") as database:
        rows = pd.DataFrame({"tid": [1, 2], "item": ["a", "b"]})
        with pytest.raises(InputError, match="All 2 items of the transactions data frame are private") as refused:
            database.anonymize(rows, model=HkpCoherence("1/2", 2, 2), sensitive=["a", "b", "c"], name="all", queries=2)
        assert refused.value.code == "all_sensitive" and database.releases() == []
        with pytest.raises(InputError, match="Sensitive items must be texts"):
            database.anonymize(rows, model=HkpCoherence("1/2", 2, 2), sensitive=[1], name="bad")


@pytest.mark.slow
def test_in_sql(shop: Path, private: Path) -> None:
    with anondb.connect(private) as database:
        database.sql(
            "CREATE ANONYMIZED VIEW coherent AS SELECT tid, item FROM sales"
            " WITH (model = 'hkp', h = '1/2', k = 2, p = 2, sensitive = 'secrets', queries = 5)"
        )
        assert database.release("coherent").verification.verified
        assert database.check_view("coherent").verification.verified
        assert len(BASKETS) == 6 and database.release("coherent").count_bounds(["s"]) == (3, 3.0, 3)

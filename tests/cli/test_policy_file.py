"""``anondb run FILE.toml``: the same releases as statements make, typed errors, and nothing done where nothing changed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from cli.shop import RELEASED, Run, baskets, state_of

import anondb
from anondb.options import RUN, release_options, view_options

SPRING = """
[release.spring]
transactions = "sales"
taxonomy = "food"
k = 2
m = 2
queries = 5
item_supports = true
"""


def policies(shop: Path, text: str, name: str = "anondb.toml") -> Path:
    file = shop.parent / name
    file.write_text(text)
    return file


@pytest.mark.nightly
def test_the_same_release_as_in_sql(run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = f'publish = "spring.duckdb"\nmode = "0640"\n[release."two words"]\nquery = "{QUERY}"\nk = 2\nqueries = 0\n'
    file = policies(shop, f'source = "{shop.name}"\nthreads = 1\n' + SPRING + more)
    monkeypatch.chdir("/")
    done = run("run", file, "--json")
    assert done.code == 0, done.err
    first, second = done.json["results"]
    assert (first["release"], first["kind"], first["result"]["verified"]) == ("spring", "create", True)
    assert (second["release"], second["result"]["accuracy"]["queries"]) == ("two words", 0)
    assert baskets(shop.parent / "spring.duckdb") == baskets(shop, "release_spring") == RELEASED
    assert (shop.parent / "spring.duckdb").stat().st_mode & 0o777 == 0o640
    statement = "CREATE ANONYMIZED VIEW other AS SELECT * FROM sales WITH (k = 2, m = 2, taxonomy = 'food', queries = 5)"
    assert run("run", shop, policies(shop, statement, "policy.sql")).code == 0
    with duckdb.connect(str(shop), read_only=True) as reader:
        for name in ("spring", "other"):
            asked = reader.execute(f"SELECT value FROM release_{name}.manifest WHERE key = 'table'").fetchall()
            assert asked == [("sales",)]
    assert baskets(shop, "release_other") == RELEASED


QUERY = "SELECT tid, item FROM sales WHERE tid < 5"


@pytest.mark.slow
def test_a_second_run_does_what_is_needed(run: Run, shop: Path) -> None:
    file = policies(shop, f'source = "{shop.name}"\n' + SPRING)
    assert run("run", file).code == 0
    before = state_of(shop)
    again = run("run", file)
    assert again.code == 0 and "nothing was done" in again.out and state_of(shop) == before


@pytest.mark.slow
def test_changed_data_refresh_the_release(run: Run, shop: Path) -> None:
    file = policies(shop, f'source = "{shop.name}"\n' + SPRING)
    assert run("run", file).code == 0
    with duckdb.connect(str(shop)) as owner:
        owner.execute("INSERT INTO sales VALUES (7, 'a'), (8, 'a')")
    found = run("run", file, "--json").json["results"][0]
    assert found["kind"] == "refresh" and found["result"]["causes"] == ["data"]


@pytest.mark.slow
def test_a_changed_option_makes_the_release_anew(run: Run, shop: Path) -> None:
    file = policies(shop, f'source = "{shop.name}"\n' + SPRING)
    assert run("run", file).code == 0
    policies(shop, f'source = "{shop.name}"\n' + SPRING.replace("m = 2", "m = 1"))
    made = run("run", file, "--json").json["results"][0]
    assert made["kind"] == "create" and made["result"]["model"]["m"] == 1


@pytest.mark.slow
def test_a_release_that_is_no_view_is_not_replaced_by_chance(run: Run, shop: Path) -> None:
    named = f'source = "{shop.name}"\n' + SPRING.replace("spring", "old")
    refused = run("run", policies(shop, named))
    assert refused.code == 2 and refused.err.endswith("Choose another name, or replace it with replace = true.\n")
    assert run("run", policies(shop, named + "replace = true\n")).code == 0


@pytest.mark.slow
def test_a_file_that_is_no_earlier_version_is_not_replaced(run: Run, shop: Path) -> None:
    file = policies(shop, f'source = "{shop.name}"\n' + SPRING)
    assert run("run", file).code == 0
    (shop.parent / "mine.duckdb").write_text("mine")
    named = f'source = "{shop.name}"\n' + SPRING + 'publish = "mine.duckdb"\n'
    refused = run("run", policies(shop, named), "--json")
    assert refused.json["error"]["code"] == "target_exists" and (shop.parent / "mine.duckdb").read_text() == "mine"
    again = policies(shop, named + "replace = true\n")
    assert run("run", again).code == 2 and (shop.parent / "mine.duckdb").read_text() == "mine", "it is no release"
    (shop.parent / "mine.duckdb").unlink()
    assert run("run", again).code == 0


@pytest.mark.slow
def test_a_data_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("customer,product\n" + "1,a\n2,a\n3,b\n4,b\n")
    text = 'source = "s.csv"\n[release.r]\nid = "customer"\nitem = "product"\nk = 2\nqueries = 0\npublish = "r.duckdb"\n'
    file = policies(tmp_path / "x", text)
    assert run("run", file).code == 0 and baskets(tmp_path / "r.duckdb") == [["a"], ["a"], ["b"], ["b"]]
    assert "replace it with replace = true" in run("run", file).err
    assert run("run", policies(tmp_path / "x", text + "replace = true\n")).code == 0


NIGHTLY = """
source = "new.duckdb"
[load]
transactions = "sales.csv"
transactions_as = "sales"
id = "customer"
item = "product"
id_as = "customer"
[release.night]
transactions = "sales"
id = "customer"
k = 2
m = 1
queries = 5
publish = "night.duckdb"
proof = "night-proof"
"""


@pytest.mark.slow
def test_files_are_loaded_and_what_commands_made_is_kept_until_the_data_change(run: Run, tmp_path: Path) -> None:
    new, sales, night = (tmp_path / name for name in ("new.duckdb", "sales.csv", "night.duckdb"))
    sales.write_text("customer,product\n" + "1,a\n2,a\n3,b\n4,b\n")
    columns = ("--as", "sales", "--id", "customer", "--item", "product", "--id-as", "customer")
    assert run("load", new, "--transactions", sales, *columns).code == 0
    promise = ("--id", "customer", "--k", 2, "--m", 1, "--release", "night", "--queries", 5)
    assert run("anonymize", new, "--transactions", "sales", *promise).code == 0
    assert run("publish", new, "--release", "night", "--to", night).code == 0
    before = night.read_bytes()
    file = policies(new, NIGHTLY)
    done = run("run", file)
    assert done.code == 0 and "sales: read sales.csv: " in done.out and "nothing was done" in done.out
    proof = tmp_path / "night-proof" / "README.md"
    assert night.read_bytes() == before and anondb.verify_file(night).content_digest in proof.read_text(), "it was missing"
    with sales.open("a") as more:
        more.write("5,b\n")
    refused = run("run", file)
    assert (
        refused.code == 2 and "add allow_overlap = true to [release.night]." in refused.err and night.read_bytes() == before
    )
    found = run("run", policies(new, NIGHTLY + "allow_overlap = true\n"), "--json")
    assert found.json["results"][0]["result"]["transactions"] == 5
    digest = anondb.verify_file(night).content_digest
    assert digest in proof.read_text() and night.read_bytes() != before
    for made in (new, night, proof):
        made.unlink()
    assert run("run", file).code == 0 and anondb.verify_file(night).content_digest in proof.read_text()


def test_a_new_database_whose_release_was_published_stays(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error, too: its ledger alone knows whom the file has, and the next run goes on from it."""

    def refuse(*_: object) -> None:
        raise anondb.InputError("The disk is full.", code="bad_path")

    new, night = tmp_path / "new.duckdb", tmp_path / "night.duckdb"
    (tmp_path / "sales.csv").write_text("customer,product\n" + "1,a\n2,a\n3,b\n4,b\n")
    file = policies(new, NIGHTLY)
    with monkeypatch.context() as patched:
        patched.setattr("anondb.publications.publish.write_proof", refuse)
        assert run("run", file).code == 2 and new.exists() and night.exists()
    assert run("run", file).code == 0
    assert anondb.verify_file(night).content_digest in (tmp_path / "night-proof" / "README.md").read_text()
    for made in (new, night):
        made.unlink()
    assert run("run", policies(new, NIGHTLY.replace("k = 2", "k = 9"))).code == 3 and not new.exists()


@pytest.mark.slow
@pytest.mark.parametrize("change", ["k = 3", "item_supports = true", 'publish = "mine.duckdb"'])
def test_another_release_is_not_taken_for_that_of_a_policy(run: Run, tmp_path: Path, change: str) -> None:
    new, sales = tmp_path / "new.duckdb", tmp_path / "sales.csv"
    sales.write_text("customer,product\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(8)))
    (tmp_path / "mine.duckdb").write_text("mine")
    made = {"id": "customer", "name": "night", "queries": 5}
    with anondb.connect(new) as database:
        database.load(sales, transactions_as="sales", id="customer", item="product", id_as="customer")
        database.anonymize("sales", model=anondb.KmAnonymity(2, 1), **made)
    name = change.partition(" ")[0]
    text = "".join(f"{line}\n" for line in NIGHTLY.splitlines() if not line.startswith(f"{name} "))
    refused = run("run", policies(new, f"{text}{change}\n"), "--json")
    assert refused.json["error"]["code"] == ("target_exists" if name == "publish" else "release_exists")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("x = [", "syntax_error", "'anondb.toml' is not valid TOML (at end of document)."),
        ("k = 'a\nb'", "syntax_error", "(at line 1, column 7)"),
        (SPRING, "no_source", "names no source"),
        ("source = 's'\nload = 1" + SPRING, "bad_usage", "[load] names the files"),
        ("source = 's.csv'\n[load]\nrecords = 'r.csv'" + SPRING, "bad_usage", "[load] names the files"),
        ("source = 's'\n[load]\nrecord = 'r.csv'" + SPRING, "unknown_option", "[load]: There is no option 'record'"),
        ("source = 's'\n[load]\nrecords = 'r.csv'" + SPRING, "no_such_file", "'r.csv' does not exist"),
        ("source = 'shop.duckdb'" + SPRING + "proof = 'p'", "bad_usage", "proof needs publish"),
        (f"source = 'shop.duckdb'{SPRING}publish = 'd'\nproof = 'p'\npartition_by = 'x'", "bad_usage", "and no proof"),
        ("source = 's'", "bad_usage", "[release.spring]"),
        ("source = 's'\nrelease = 1", "bad_usage", "[release.spring]"),
        ("source = 's'\nrelease.spring = 1", "bad_usage", "[release.spring]"),
        ("source = 's'\nthread = 1\n" + SPRING, "unknown_option", "Did you mean 'threads'"),
        ("source = 's'\n[[policy]]\nk = 5\n" + SPRING, "unknown_option", "a table 'policy'"),
        ("source = 's'\nthreads = '1'\n" + SPRING, "bad_parameter", "threads must be an integer, not '1'"),
        ("source = 1\n" + SPRING, "bad_parameter", "source must be a text, not 1"),
        ("source = 's'\n" + SPRING + "kk = 1", "unknown_option", "[release.spring]: There is no option 'kk'"),
        ("source = 's'\n" + SPRING + "sensitive = ['a']", "bad_parameter", "sensitive must be a text, not list"),
        ("source = 's'\n" + SPRING + "publish = 1979-05-27", "bad_parameter", "publish must be a text, not date"),
        ("source = 's'\n" + SPRING + "query = 'FROM sales'", "bad_usage", "has transactions and a query"),
        ("source = 'shop.duckdb'\n[release.r]\nk = 2", "no_transactions", "names no transactions"),
        ("source = 'shop.duckdb'\n[release.r]\nquery = 'DROP TABLE sales'", "syntax_error", "is one SELECT"),
        ("source = 'shop.duckdb'\n[release.r]\ntransactions = 'sales'\nid = 'x'", "no_such_column", "with id."),
        ("source = 'no.duckdb'" + SPRING, "no_such_file", "'no.duckdb' does not exist"),
    ],
)
def test_typed_errors(run: Run, shop: Path, text: str, code: str, words: str) -> None:
    before = shop.read_bytes()
    refused = run("run", policies(shop, text), "--json")
    assert refused.code == 2 and refused.json["error"]["code"] == code
    assert words in refused.json["error"]["message"] and shop.read_bytes() == before


def test_usage(run: Run, shop: Path) -> None:
    for words in ((policies(shop, ""), "policy.sql"), (shop, policies(shop, ""))):
        assert run("run", *words, "--json").json["error"]["code"] == "bad_usage"
    absent = run("run", shop.parent / "absent.toml", "--json")
    assert absent.code == 2 and absent.json["error"]["code"] == "no_such_file"


def test_every_option_is_stated_once() -> None:
    """A file of policies takes the options of a view, which are those of ``anonymize``, and few of its own."""
    own = release_options().keys() - view_options().keys()
    assert own == {"transactions", "query", "replace"} and not own & RUN.keys()

"""The commands run, explain and verify --against-source, as a user would run them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anondb.cli import main

Run = Callable[..., tuple[int, str, str]]
POLICY = """-- the shop's policy
CREATE OR REPLACE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales
  WITH (model = 'km', k = 5, m = 2, algorithm = 'mhghs', taxonomy = 'food', queries = 20);
SELECT count(*) AS customers, 1/0 AS nothing, 'nan'::DOUBLE AS odd, MAP {1: [2]} AS m FROM release_spring.transaction_ids;
SHOW ANONYMIZED VIEWS;
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["anondb", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        found = capsys.readouterr()
        return int(caught.value.code or 0), found.out, found.err

    return call


def policy(directory: Path, text: str = POLICY) -> Path:
    place = directory / "policy.sql"
    place.write_text(text, "utf-8")
    return place


def one_object(out: str) -> Any:
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.slow
def test_run(run: Run, demo_shop: Path, tmp_path: Path) -> None:
    code, out, err = run("run", demo_shop, policy(tmp_path))
    assert (code, err) == (0, "")
    assert "anonymized view spring: 3,000 transactions" in out and "customers" in out and "unknown" in out
    code, out, _ = run("run", demo_shop, policy(tmp_path), "--json")
    results = one_object(out)["results"]
    assert code == 0 and [r["kind"] for r in results] == ["create", "sql", "show"]
    assert results[0]["result"]["verified"] is True and results[0]["result"]["release"] == "spring"
    assert results[1]["columns"][0] == "customers" and results[1]["rows"][0][0] == 3000
    code, out, _ = run("run", demo_shop, policy(tmp_path, "REFRESH ANONYMIZED VIEW spring"), "--json")
    assert one_object(out)["results"][0]["result"]["changed"] is False


@pytest.mark.slow
def test_the_statement_of_a_view_can_be_run_again(run: Run, demo_shop: Path, tmp_path: Path) -> None:
    assert run("run", demo_shop, policy(tmp_path))[0] == 0
    code, out, _ = run("run", demo_shop, policy(tmp_path, "SHOW CREATE ANONYMIZED VIEW spring"))
    assert code == 0 and out.count("\n") == 3 and out.startswith('CREATE ANONYMIZED VIEW "spring" AS\n')
    code, again, err = run("run", demo_shop, policy(tmp_path, out.replace("CREATE", "CREATE OR REPLACE", 1)))
    assert (code, err) == (0, "") and "3,000 transactions" in again


def test_run_stops_at_the_first_error(run: Run, demo_shop: Path, tmp_path: Path) -> None:
    text = "CREATE TABLE kept (a INTEGER);\nSELECT 1 AS one;\nSELECT * FROM nope;\nCREATE TABLE never (a INTEGER);"
    code, out, err = run("run", demo_shop, policy(tmp_path, text))
    assert code == 2 and "one" in out
    assert err == "anondb: statement 3, line 3: DuckDB refused it: CatalogException, about 'nope'.\n"
    code, out, _ = run("run", demo_shop, policy(tmp_path, "SELECT 1;\nSELECT FROM FROM"), "--json")
    error = one_object(out)["error"]
    assert (code, error["code"], error["line"]) == (2, "syntax_error", 2) and error["column"] > 1
    with duckdb.connect(str(demo_shop)) as connection:
        found = connection.sql("SELECT table_name FROM duckdb_tables() WHERE table_name IN ('kept', 'never')").fetchall()
    assert found == [("kept",)]


def test_run_bad_usage(run: Run, demo_shop: Path, tmp_path: Path) -> None:
    assert run("run", demo_shop, tmp_path / "none.sql")[0] == 2
    (tmp_path / "latin.sql").write_bytes(b"SELECT '\xe9'")
    assert run("run", demo_shop, tmp_path / "latin.sql")[0] == 2
    assert run("run", tmp_path / "none.duckdb", policy(tmp_path))[0] == 2
    code, _, err = run("run", demo_shop, policy(tmp_path, "BEGIN; CREATE TABLE t (a INTEGER)"))
    assert code == 2 and "undone" in err
    infeasible = POLICY.replace("k = 5", "k = 5000")
    assert run("run", demo_shop, policy(tmp_path, infeasible))[0] == 3


@pytest.mark.slow
def test_run_over_a_data_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("tid,item\n" + "".join(f"{n // 2},{'ab'[n % 2]}\n" for n in range(12)))
    (tmp_path / "food.csv").write_text("node,parent\na,all\nb,all\n")
    text = f"""CREATE ANONYMIZED VIEW v AS FROM sales WITH (taxonomy = '{tmp_path}/food.csv',
    publish = '{tmp_path}/v.duckdb');
    SELECT count(*) FROM sales"""
    code, out, _ = run("run", tmp_path / "sales.csv", policy(tmp_path, text), "--json")
    assert code == 0 and one_object(out)["results"][1]["rows"] == [[12]]
    with duckdb.connect(str(tmp_path / "v.duckdb"), read_only=True) as analyst:
        assert analyst.sql("SELECT value FROM manifest WHERE key = 'table'").fetchall() == [("sales",)]


@pytest.mark.slow
def test_statements_over_a_data_file_may_do_anything(run: Run, tmp_path: Path) -> None:
    """The release has its views and macros, gives way to another, and may be written into another database; what the script
    sets is looked at."""
    (tmp_path / "sales.csv").write_text("tid,item\n" + "".join(f"{n // 2},{'ab'[n % 2]}\n" for n in range(12)))
    make = "ANONYMIZED VIEW v AS FROM sales WITH (k = 2, algorithm = 'coat')"
    text = f"""CREATE {make}; USE memory.release_v; SELECT upper_bound FROM count_bounds(['a']);
    USE memory.main; SELECT count(*) FROM release_v.baskets; CREATE OR REPLACE {make};
    INSERT INTO sales VALUES (6, 'a'); REFRESH ANONYMIZED VIEW v; DROP ANONYMIZED VIEW v;
    ATTACH '{tmp_path}/shop.duckdb' AS shop; USE shop; CREATE ANONYMIZED VIEW v AS FROM memory.main.sales
      WITH (k = 2, algorithm = 'coat')"""
    code, out, err = run("run", tmp_path / "sales.csv", policy(tmp_path, text), "--json")
    assert code == 0, err
    rows = [result["rows"] for result in one_object(out)["results"] if result.get("rows")]
    assert [[6]] in rows
    with duckdb.connect(str(tmp_path / "shop.duckdb"), read_only=True) as owner:
        owner.execute("USE shop.release_v")
        assert owner.execute("SELECT upper_bound FROM count_bounds(['a'])").fetchall() == [(7,)]
        assert owner.execute("SELECT count(*) FROM baskets").fetchall() == [(7,)]

    code, _, err = run("run", tmp_path / "sales.csv", policy(tmp_path, f"SET default_collation = 'NOCASE'; CREATE {make}"))
    assert code == 2 and "default_collation" in err


@pytest.mark.slow
def test_explain_and_verify_against_source(run: Run, demo_shop: Path, tmp_path: Path) -> None:
    assert run("run", demo_shop, policy(tmp_path))[0] == 0
    code, out, _ = run("explain", demo_shop, "--release", "spring", "--item", "saffron")
    assert code == 0 and "everything > pantry > cooking > saffron" in out and "strictly cheaper" in out
    code, out, _ = run("explain", demo_shop, "--release", "spring", "--item", "saffron", "--json")
    found = one_object(out)
    assert found["outcome"] == "generalized" and found["steps"][0]["action"] == "specialize"
    assert run("explain", demo_shop, "--release", "spring", "--item", "gold")[0] == 2

    command = ("verify", demo_shop, "--release", "spring", "--against-source")
    code, out, _ = run(*command, "--json")
    found = one_object(out)
    assert code == 0 and found["verified"] and found["holds"] and found["status"] == "fresh"
    with duckdb.connect(str(demo_shop)) as connection:
        connection.execute("INSERT INTO sales VALUES (9001, 'pregnancy test'), (9001, 'saffron')")
        connection.execute("DELETE FROM sales WHERE item IN ('pregnancy test', 'aspirin') AND tid < 2990")
    code, out, _ = run(*command, "--json", "--witnesses", "3")
    found = one_object(out)
    assert code == 4 and not found["verified"] and found["violations"] > 0 and found["status"] == "stale"
    assert len(found["witnesses"]) >= 1
    code, out, _ = run(*command)
    assert code == 4 and "does not hold" in out
    assert run("verify", demo_shop, "--release", "spring")[0] == 0  # the release itself is as good as before
    assert run("verify", demo_shop, "--against-source")[0] == 2
    code, out, _ = run("run", demo_shop, policy(tmp_path, "REFRESH ANONYMIZED VIEW spring"))
    assert code == 0 and "would not hold any more" in out
    assert run(*command)[0] == 0

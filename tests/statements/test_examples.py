"""The examples run as they stand; the dbt project without dbt, and with it where it is installed."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

import anondb

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROJECT = EXAMPLES / "dbt_project"


def test_policy_file(demo_shop: Path) -> None:
    with anondb.connect(demo_shop) as db:
        results = list(db.run((EXAMPLES / "policy.sql").read_text("utf-8")))
    kinds = [r.kind for r in results]
    assert kinds == ["sql", "create", "refresh", "sql", "sql", "show"]
    assert results[-1].rows[0][-1] == "fresh" and len(results[3].rows) == 5


@pytest.mark.slow
def test_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "notebook.py"))
    out = capsys.readouterr().out
    assert "strictly cheaper" in out and "would not hold any more" in out


def violations(connection: duckdb.DuckDBPyConnection, k: int, m: int) -> list[Any]:
    """The generic test's SQL, its Jinja filled in by hand."""
    text = (PROJECT / "tests" / "generic" / "km_anonymous.sql").read_text("utf-8")
    text = re.sub(r"{%.*?%}", "", text)
    for name, value in {"model": "spring", "k": k, "m": m, "transaction": "transaction_id", "item": "item"}.items():
        text = text.replace("{{ " + name + " }}", str(value))
    assert "{" not in text
    return connection.execute(text).fetchall()


def test_dbt_model_and_generic_test() -> None:
    with duckdb.connect() as connection:
        for seed in ("sales", "food"):
            connection.execute(f"CREATE TABLE {seed} AS FROM read_csv('{PROJECT}/seeds/{seed}.csv')")
        connection.execute("CREATE VIEW baskets AS SELECT DISTINCT tid, item FROM sales")

        class Config(dict[str, Any]):
            def __call__(self, **options: Any) -> None:
                self.update(options)

        dbt = SimpleNamespace(ref=connection.table, config=Config())
        frame = runpy.run_path(str(PROJECT / "models" / "spring.py"))["model"](dbt, connection)
        assert list(frame.columns) == ["transaction_id", "item", "copies"] and len(frame) > 400
        connection.execute("CREATE TABLE spring AS SELECT * FROM frame")
        assert violations(connection, 5, 2) == []
        connection.execute("INSERT INTO spring VALUES (1, 'saffron', 1), (2, 'saffron', 1)")
        assert violations(connection, 5, 1) == [("saffron", None, 2)]
        assert len(violations(connection, 5, 2)) > 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dbt") is None, reason="dbt is not installed")
def test_dbt_itself(tmp_path: Path) -> None:
    shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("target", "logs"))
    place = {**os.environ, "ANONDB_WAREHOUSE": str(tmp_path / "warehouse.duckdb")}
    command = ["dbt", "build", "--profiles-dir", "."]
    done = subprocess.run(command, cwd=tmp_path / "project", env=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

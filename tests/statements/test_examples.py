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


NOTEBOOKS = {"owner": ["'apples', 'figs'", "strictly cheaper", "would not hold any more"], "analyst": ["unsupported_query"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebooks run from top to bottom in a kernel of their own."""
    nbclient = pytest.importorskip("nbclient")  # of the group docs, which make check installs
    import nbformat

    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    printed = "".join(o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", ()))
    assert all(words in printed for words in NOTEBOOKS[name])


def violations(connection: duckdb.DuckDBPyConnection, k: int, m: int) -> list[Any]:
    """The generic test's SQL, its Jinja filled in by hand."""
    text = (PROJECT / "tests" / "generic" / "km_anonymous.sql").read_text("utf-8")
    text = re.sub(r"{%.*?%}", "", text)
    for name, value in {"model": "spring", "k": k, "m": m, "transaction": "transaction_id", "item": "item"}.items():
        text = text.replace("{{ " + name + " }}", str(value))
    assert "{" not in text
    return connection.execute(text).fetchall()


@pytest.mark.slow
def test_dbt_model_and_generic_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANONDB_LEDGER", str(tmp_path / "ledger.duckdb"))
    with duckdb.connect() as connection:
        for seed in ("sales", "food"):
            connection.execute(f"CREATE TABLE {seed} AS FROM read_csv('{PROJECT}/seeds/{seed}.csv')")
        connection.execute("CREATE VIEW baskets AS SELECT DISTINCT tid, item FROM sales")

        class Config(dict[str, Any]):
            def __call__(self, **options: Any) -> None:
                self.update(options)

        dbt = SimpleNamespace(ref=connection.table, config=Config())
        model = runpy.run_path(str(PROJECT / "models" / "spring.py"))["model"]
        frame = model(dbt, connection)
        dbt.config["publish"] = str(tmp_path / "spring.duckdb")
        assert len(model(dbt, connection)) == len(frame)
        page = (EXAMPLES.parent / "docs" / "dbt.md").read_text("utf-8")
        assert 'connect(os.environ.get("ANONDB_LEDGER", "ledger.duckdb"))' in (PROJECT / "models" / "spring.py").read_text()
        assert "`ledger.duckdb` (or where `ANONDB_LEDGER` says)" in page
        with pytest.raises(anondb.InputError, match="published before"):
            model(dbt, connection)  # the ledger is that of the run before
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
    place["ANONDB_LEDGER"] = str(tmp_path / "ledger.duckdb")
    command = ["dbt", "build", "--profiles-dir", "."]
    done = subprocess.run(command, cwd=tmp_path / "project", env=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

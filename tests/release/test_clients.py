"""Sealed files in the hands of other DuckDB versions, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import anondb
from anondb.demo import make_shop

VERSIONS = ["1.3.2", "1.4.0", "1.4.1", "1.4.4", "1.5.3"]
CLIENT = """
import json, shutil, sys
import duckdb
file, proof, copy = sys.argv[1:]
shutil.copy(file, copy)
here, there, said = duckdb.connect(file, read_only=True), duckdb.connect(), []
there.execute(f"ATTACH '{copy}' AS s (READ_ONLY)")
for query in json.load(sys.stdin):
    connection = there if " s." in query else here
    said.append(connection.execute(query).fetchall())
for statement in here.extract_statements(open(proof).read()):
    last = here.execute(statement).fetchall()
print(json.dumps([said, last], default=str))
"""
ASKED = [
    "SELECT count(*), sum(copies) FROM transactions",
    "FROM transactions ORDER BY ALL LIMIT 9",
    "FROM baskets ORDER BY ALL LIMIT 9",
    "FROM item_counts ORDER BY ALL",
    "FROM count_bounds([])",
    "FROM count_bounds(['milk'])",
    "FROM count_bounds(['milk', 'bread'])",
    "FROM manifest ORDER BY ALL",
    "SELECT count(*) FROM s.transactions",
    "FROM s.item_counts ORDER BY ALL",
    "FROM s.baskets ORDER BY ALL LIMIT 9",
]
BUCKETS = [q for q in ASKED if "transactions" not in q and "baskets" not in q] + ["FROM reconstruct(7) ORDER BY ALL LIMIT 9"]


def ask(python: str, script: Path, file: Path, proof: Path, queries: list[str], version: str) -> object:
    """What a client says."""
    words = [python, str(script), str(file), str(proof), str(file.with_suffix(f".{version}"))]
    done = subprocess.run(words, input=json.dumps(queries), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """A sealed file of each kind, with its proof."""
    place = tmp_path_factory.mktemp("clients")
    with anondb.connect(place / "shop.duckdb") as database:
        make_shop(database)
        made = {
            "km": {"model": anondb.KmAnonymity(5, 2), "taxonomy": "food"},
            "local": {"model": anondb.TransactionalK(5), "taxonomy": "food"},
            "anatomy": {"model": anondb.Anatomy(2), "columns": 2, "empty_values": "ignore"},
            "records": {
                "model": anondb.KkmAnonymity(5, 2),
                "taxonomy": "food",
                "records": "customers",
                "quasi_identifiers": "age",
                "delta": 0.5,
            },
        }
        for name, options in made.items():
            release = database.anonymize("sales", name=name, queries=2, **options)  # type: ignore[arg-type]
            release.publish(place / f"{name}.duckdb", allow_overlap=True, proof=place / name)
    return {name: (place / f"{name}.duckdb", next((place / name).glob("*.sql"))) for name in made}


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_other_versions_say_the_same(files: dict[str, tuple[Path, Path]], tmp_path: Path, version: str) -> None:
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    python = str(tmp_path / "client" / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "client")], check=True)
    installed = subprocess.run([python, "-m", "pip", "install", "-q", f"duckdb=={version}"], capture_output=True)
    if installed.returncode:
        pytest.skip(f"duckdb {version} cannot be installed here")
    for name, (file, proof) in files.items():
        queries = BUCKETS if name == "anatomy" else ASKED
        found = ask(python, script, file, proof, queries, version)
        assert found == ask(sys.executable, script, file, proof, queries, duckdb.__version__), name
        assert found[1][0][0].startswith("PASS")  # type: ignore[index]

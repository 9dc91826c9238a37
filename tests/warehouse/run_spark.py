"""A release in Spark that a test kills: says when it begins a step, and waits; with ``java``, it kills its Java there."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings

warnings.simplefilter("ignore")

from properties.trees import taxonomy_of  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import anondb  # noqa: E402

os.environ["PYSPARK_PYTHON"] = sys.executable
settings = {
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": sys.argv[1],
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def at_a_statement(text: str) -> None:
    """Wait for the signal before the statement with these words."""
    if sys.argv[2] in text and sys.argv[3:] == ["java"]:
        os.kill(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
    elif sys.argv[2] in text:
        print("ready", flush=True)
        time.sleep(300)


spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
sales = spark.sql("SELECT id AS tid, 'a' AS item FROM range(9)")
anondb.connect(spark, on_statement=at_a_statement).anonymize(
    sales, taxonomy=taxonomy_of({"root": ["a"]}, "root"), model=anondb.KmAnonymity(2, 2), to="spring"
)

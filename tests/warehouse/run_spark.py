"""A run inside Spark that a test kills: says when its private folder has rows of the source."""

from __future__ import annotations

import sys
import time
import warnings

warnings.simplefilter("ignore")

from pyspark.sql import SparkSession  # noqa: E402

from anondb.warehouse.spark import SparkWarehouse  # noqa: E402

settings = {
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": sys.argv[1],
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
warehouse = SparkWarehouse(spark)
with warehouse.snapshot():
    warehouse.source(spark.sql("SELECT id AS tid, 'a' AS item FROM range(9)"), "tid", "item")
    print("ready", flush=True)
    time.sleep(300)

"""Run by the Python of DQX: apply checks to a Parquet file on Spark, and tell how many rows fail each.

DQX wants a client of a Databricks workspace, which applying checks to a DataFrame never asks anything: a stand-in
takes its place here. Checks, engine and Spark are real.
"""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

import yaml
from databricks.labs.dqx.engine import DQEngineCore
from databricks.sdk import WorkspaceClient
from pyspark.sql import SparkSession

checks_file, parquet = sys.argv[1:3]
checks = yaml.safe_load(Path(checks_file).read_text("utf-8"))
settings = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
engine = DQEngineCore(workspace_client=MagicMock(spec=WorkspaceClient), spark=spark)
status = engine.validate_checks(checks)
assert not status.has_errors, status.errors
table = spark.read.parquet(parquet).cache()
told = {}
for check in checks:  # one by one: each query reads what the checks before it made, and plans would grow without end
    rows = engine.apply_checks_by_metadata(table, [check]).select("_errors").collect()
    told[check["user_metadata"]["law"]] = sum(bool(row["_errors"]) for row in rows)
print("\n" + json.dumps(told))

"""Run by dbt's own Python: build a model of a Parquet file, test it, and tell how many rows fail each test."""

import json
import sys
from pathlib import Path

from dbt.cli.main import dbtRunner

project, table, parquet = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(project / "dbt_project.yml").write_text(
    "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\ntest-paths: [tests]\n"
    "flags:\n  require_generic_test_arguments_property: true\n  send_anonymous_usage_stats: false\n"
)
(project / "profiles.yml").write_text(
    f"shop:\n  target: dev\n  outputs:\n    dev: {{type: duckdb, path: '{project}/shop.duckdb', threads: 1}}\n"
)
(project / "models").mkdir(exist_ok=True)
(project / "models" / f"{table}.sql").write_text(
    f"{{{{ config(materialized='table') }}}}\nselect * from read_parquet('{parquet}')\n"
)
folders = ["--project-dir", str(project), "--profiles-dir", str(project), "--quiet"]
assert dbtRunner().invoke(["run", *folders]).success
dbtRunner().invoke(["test", *folders])
results = json.loads((project / "target" / "run_results.json").read_text())["results"]
wrong = [result for result in results if result["status"] not in ("pass", "fail")]
assert not wrong, wrong
print("\n" + json.dumps({result["unique_id"].split(".")[2]: result["failures"] for result in results}))

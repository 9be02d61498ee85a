"""Run by the Python of Great Expectations: validate a table of PostgreSQL by a suite, and tell how many rows fail."""

import json
import sys
from pathlib import Path

import great_expectations as gx

suite_file, connection, table = sys.argv[1:4]
suite = json.loads(Path(suite_file).read_text("utf-8"))
context = gx.get_context(mode="ephemeral")
source = context.data_sources.add_postgres("shop", connection_string=connection)
batch = source.add_table_asset("asset", table_name=table).add_batch_definition_whole_table("whole").get_batch()
told = {}
for expectation in suite["expectations"]:
    one = gx.ExpectationSuite(name=suite["name"], expectations=[expectation])
    (result,) = batch.validate(one, result_format="COMPLETE").results
    assert not result.exception_info.get("raised_exception"), result.exception_info
    found = result.result
    count = found.get("unexpected_count", found.get("observed_value"))
    told[expectation["meta"]["law"]] = [bool(result.success), count if isinstance(count, int) else None]
print("\n" + json.dumps(told))

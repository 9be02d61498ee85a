"""Run by Soda's own Python: verify a contract on DuckDB, and tell how many rows fail each check."""

import json
import sys
from pathlib import Path

import duckdb
from soda_core.contracts.api.verify_api import verify_contract

folder, table, parquet = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with duckdb.connect(str(folder / "shop.duckdb")) as database:
    database.execute(f"create table \"{table}\" as select * from read_parquet('{parquet}')")
(folder / "source.yml").write_text(
    f"type: duckdb\nname: data_source\nconnection:\n  database: {folder}/shop.duckdb\n  schema: main\n"
)
contract = (folder / "contract.yml").read_text()
(folder / "contract.yml").write_text(contract.replace("dataset: data_source/", "dataset: data_source/shop/main/", 1))
done = verify_contract(
    contract_file_path=str(folder / "contract.yml"),
    dataset_identifier=None,
    data_source_file_path=str(folder / "source.yml"),
    soda_cloud_file_path=None,
    publish=False,
)
(result,) = done.contract_verification_results
assert not done.has_errors, done.get_errors_str()
told = {}
for check in result.check_results:
    told[check.check.qualifier if hasattr(check.check, "qualifier") else check.check.name] = int(check.threshold_value)
print("\n" + json.dumps(told))

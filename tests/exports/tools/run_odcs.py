"""Run by the Python of datacontract-cli: lint a contract, test a Parquet file by it, and tell what fails."""

import json
import sys
from pathlib import Path

import yaml
from datacontract.data_contract import DataContract

file, parquet = Path(sys.argv[1]), sys.argv[2]
contract = yaml.safe_load(file.read_text())
contract["servers"] = [{"server": "local", "type": "local", "path": parquet, "format": "parquet"}]
file.write_text(yaml.safe_dump(contract, allow_unicode=True, sort_keys=False))
linted = DataContract(data_contract_file=str(file)).lint()
assert linted.result == "passed", linted.pretty()
run = DataContract(data_contract_file=str(file), server="local").test()
laws = {rule["name"]: rule["customProperties"][0]["value"] for rule in contract["schema"][0]["quality"]}
told = [[check.name, check.type, str(check.result).split(".")[-1], check.reason] for check in run.checks]
print("\n" + json.dumps({"laws": laws, "checks": told}))

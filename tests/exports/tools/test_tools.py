"""Exports run by the tools that they are for: the rows fail that `lawful check` says.

`make tools` makes an environment for each tool in `.tools` (or in `LAWFUL_TOOLS`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from exports.tools.shops import HOSPITAL, Shop, hospital_shop, random_shop
from lawful.exports.exporting import export
from lawful.exports.shapes import Singles, shape_of

ROOT = Path(__file__).parents[3]
TOOLS = Path(os.environ.get("LAWFUL_TOOLS", ROOT / ".tools"))
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
CASES = [("random", seed, null) for seed in (1, 2) for null in ("equal", "ignore")] + [("hospital", 0, "equal")]

pytestmark = [pytest.mark.slow, pytest.mark.tools, pytest.mark.timeout(1800)]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    kind, seed, null = request.param
    if kind == "hospital":
        if not HOSPITAL.is_file():
            pytest.skip("the hospital table is not at hand")
        return hospital_shop(tmp_path, null)
    return random_shop(tmp_path, seed, null)


def run(tool: str, program: str, *arguments: str | Path, given: object = None) -> Any:
    """Run a program with the Python of a tool; the last line that it prints is its answer."""
    python = TOOLS / tool / "bin" / "python"
    if not python.exists():
        pytest.skip(f"there is no environment for {tool} in {TOOLS}: run `make tools`")
    script = Path(__file__).with_name(program)
    done = subprocess.run(
        [python, script, *map(str, arguments)],
        input=None if given is None else json.dumps(given),
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_dbt(shop: Shop, tmp_path: Path) -> None:
    export(shop.report, "dbt", table="shop", rows=True).write(tmp_path / "project")
    told = run("dbt", "run_dbt.py", tmp_path / "project", "shop", shop.parquet)
    laws = shop.law_of_slug()
    assert {laws[slug]: failures > 0 for slug, failures in told.items()} == shop.broken
    singular = {path.stem for path in (tmp_path / "project/tests/lawful").glob("*.sql")}
    counted = {laws[slug]: failures for slug, failures in told.items() if slug in singular and laws[slug] in shop.rows}
    assert counted == {law: count for law, count in shop.rows.items() if law in counted}


def test_dqx(shop: Shop, tmp_path: Path) -> None:
    export(shop.report, "dqx", table="shop").write(tmp_path)
    told = run("dqx", "run_dqx.py", tmp_path / "checks.yml", shop.parquet)
    assert {law: count > 0 for law, count in told.items()} == shop.broken
    assert {law: told[law] for law in shop.rows} == shop.rows


def test_soda(shop: Shop, tmp_path: Path) -> None:
    export(shop.report, "soda", table="shop").write(tmp_path)
    told = run("soda", "run_soda.py", tmp_path, "shop", shop.parquet)
    laws = shop.law_of_slug()
    assert {laws[slug]: count > 0 for slug, count in told.items()} == shop.broken
    counted = {laws[slug]: count for slug, count in told.items() if laws[slug] in shop.rows}
    assert counted == shop.rows


def test_odcs(shop: Shop, tmp_path: Path) -> None:
    export(shop.report, "odcs", table="shop").write(tmp_path)
    told = run("odcs", "run_odcs.py", tmp_path / "datacontract.yml", shop.parquet)
    by_query = {check[0]: check for check in told["checks"] if check[1] == "model_quality_sql"}
    by_metric = {check[0]: check[2] for check in told["checks"] if check[1] == "model_duplicate_values"}
    assert len(by_query) + len(by_metric) == len(shop.broken)
    for name, result in by_metric.items():
        law = next(law for law in shop.broken if name.endswith(f" for columns {law[len('key(') : -1]}"))
        assert (result == "failed") is shop.broken[law], (name, result)
    for name, _, result, reason in by_query.values():
        law = next(law for law in shop.broken if name == law or name.startswith(f"{law} ("))
        assert (result == "failed") is shop.broken[law], (name, result)
        if result == "failed" and law in shop.rows:
            assert f"was {shop.rows[law]}," in reason


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own, whose usual collation is not that of code points where the machine has such a one."""
    if not POSTGRES:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(f"/tmp/lawful-postgres-{os.getpid()}")  # a socket's path must be short
    folder.mkdir()
    programs, port = POSTGRES[-1].parent, 50_000 + os.getpid() % 10_000
    as_user: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    data = str(folder / "data")
    locale = ["--locale-provider=icu", "--icu-locale=en", "--encoding=UTF8", "--locale=C.UTF-8"]
    begin = [*as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", *locale]
    subprocess.run(begin, check=True, capture_output=True, cwd=folder)
    server = subprocess.Popen(
        [
            *as_user,
            programs / "postgres",
            "-D",
            data,
            "-p",
            str(port),
            "-k",
            str(folder),
            "-c",
            "listen_addresses=127.0.0.1",
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        ready = [programs / "pg_isready", "-h", str(folder), "-p", str(port), "-t", "30"]
        for _ in range(60):
            if subprocess.run(ready, capture_output=True).returncode == 0:
                break
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


TYPES = {"int64": "BIGINT", "string": "TEXT", "double": "DOUBLE PRECISION", "bool": "BOOLEAN"}


def in_postgres(url: str, shop: Shop, queries: list[str]) -> list[int]:
    table = pq.read_table(shop.parquet)
    rows = [list(row.values()) for row in table.to_pylist()]
    types = [TYPES[str(field.type)] for field in table.schema]
    given = {"url": url, "table": "shop", "names": table.column_names, "types": types, "rows": rows, "queries": queries}
    told: list[int] = run("gx", "run_postgres.py", given=given)
    return told


def test_postgres(shop: Shop, postgres: str) -> None:
    found = export(shop.report, "sql", dialect="postgres", table="shop")
    counts = in_postgres(postgres, shop, [query.query for query in found.queries])
    assert {query.law: count > 0 for query, count in zip(found.queries, counts, strict=True)} == shop.broken
    found = export(shop.report, "sql", dialect="postgres", table="shop", rows=True)
    counts = in_postgres(postgres, shop, [query.query for query in found.queries])
    told = dict(zip((query.law for query in found.queries), counts, strict=True))
    assert {law: told[law] for law in shop.rows} == shop.rows


def test_great_expectations(shop: Shop, postgres: str, tmp_path: Path) -> None:
    in_postgres(postgres, shop, [])
    export(shop.report, "gx", dialect="postgres", table="shop").write(tmp_path)
    told = run("gx", "run_gx.py", tmp_path / "suite.json", postgres, "shop")
    assert {law: not success for law, (success, _) in told.items()} == shop.broken
    counted = {law: count for law, (_, count) in told.items() if count is not None and law in shop.rows}
    assert counted == {law: shop.rows[law] for law in counted}
    singles = [each for each in shop.report.outcomes if isinstance(shape_of(each.law.positional), Singles)]
    assert len(counted) >= len(told) - len(singles)


def test_constraints_of_postgres(postgres: str, tmp_path: Path) -> None:
    """A key that holds can be declared, and one that is broken cannot."""
    shop = random_shop(tmp_path, 1, "equal")
    text = export(shop.report, "ddl", dialect="postgres", table="shop", select=["key(id)", "key(id, a)"]).text
    statements = [line for line in text.splitlines() if line.startswith("ALTER")]
    assert len(statements) == 2
    in_postgres(postgres, shop, [f"{statement} SELECT 1" for statement in statements])

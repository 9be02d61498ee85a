"""`python -m bench`: run named cases, all that match when none is named."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from fnmatch import fnmatch
from pathlib import Path

from bench.dc_cases import CASES as DC_CASES
from bench.errors_cases import CASES as ERRORS_CASES
from bench.evidence_cases import CASES as EVIDENCE_CASES
from bench.export_cases import CASES as EXPORT_CASES
from bench.fd_cases import CASES as FD_CASES
from bench.harness import DATA_VARIABLE, MOST_ROWS, ROOT, Case, Measurement, Missing, Settings, show, write
from bench.limits_cases import CASES as LIMITS_CASES
from bench.list_od_cases import CASES as LIST_OD_CASES
from bench.living_cases import CASES as LIVING_CASES
from bench.living_orders_cases import CASES as LIVING_ORDERS_CASES
from bench.living_paper_cases import CASES as LIVING_PAPER_CASES
from bench.od_cases import CASES as OD_CASES
from bench.pinned_cases import CASES as PINNED_CASES
from bench.pod_cases import CASES as POD_CASES
from bench.pool_cases import CASES as POOL_CASES
from bench.report_cases import CASES as REPORT_CASES
from bench.shuffle_cases import CASES as SHUFFLE_CASES
from bench.simulation_cases import CASES as SIMULATION_CASES
from bench.spark_cases import CASES as SPARK_CASES
from bench.spread_cases import CASES as SPREAD_CASES
from bench.start_cases import CASES as START_CASES
from bench.stream_cases import CASES as STREAM_CASES
from bench.strength_cases import CASES as STRENGTH_CASES
from bench.wide_cases import CASES as WIDE_CASES

CASES: dict[str, Case] = {
    **SPARK_CASES,
    **SHUFFLE_CASES,
    **SIMULATION_CASES,
    **FD_CASES,
    **EVIDENCE_CASES,
    **OD_CASES,
    **LIST_OD_CASES,
    **DC_CASES,
    **ERRORS_CASES,
    **POOL_CASES,
    **REPORT_CASES,
    **LIVING_CASES,
    **LIVING_ORDERS_CASES,
    **LIVING_PAPER_CASES,
    **POD_CASES,
    **PINNED_CASES,
    **SPREAD_CASES,
    **START_CASES,
    **WIDE_CASES,
    **LIMITS_CASES,
    **STRENGTH_CASES,
    **EXPORT_CASES,
    **STREAM_CASES,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("cases", nargs="*", default=["*"], help="names of cases; * matches anything")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(DATA_VARIABLE, ROOT.parent / "shared" / "data")),
        help=f"folder of real tables (or {DATA_VARIABLE})",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder for JSON and charts")
    parser.add_argument(
        "--most-rows",
        type=int,
        default=MOST_ROWS,
        help="how far living-growth and pinned-batches grow their tables (10000000 for all of it)",
    )
    arguments = parser.parse_args()
    chosen = {name: case for name, case in CASES.items() if any(fnmatch(name, p) for p in arguments.cases)}
    if arguments.list or not chosen:
        for name, case in CASES.items():
            print(f"{name:<24} {(case.__doc__ or '').splitlines()[0]}")
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    settings = Settings(arguments.repetitions, arguments.data, arguments.out, arguments.most_rows)
    measurements: list[Measurement] = []
    for name, case in chosen.items():
        print(f"running {name} …", flush=True)
        of_case: list[Measurement] = []
        try:
            of_case.extend(case(settings))
        except Missing as missing:
            print(f"  passed over: {missing}")
        show(of_case)  # at once: a later case may be broken off
        measurements += of_case
    if measurements:
        write(measurements, settings.folder)


if __name__ == "__main__":
    main()

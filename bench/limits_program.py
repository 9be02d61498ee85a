"""One discovery under limits, as one JSON line: how long it took, how much memory, and what it found by then.

python -m bench.limits_program TABLE FIND SECONDS MEGABYTES

TABLE is the name of a generated table or the path of a file; 0 is no limit. Time is taken without what is compiled.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import lawful
from bench.limits_tables import TABLES
from lawful.cli.interrupts import leave
from lawful.common.compiling import working_seconds
from lawful.common.errors import StoppedError
from lawful.common.memory import resident_bytes


def main(table: str, find: str, seconds: str, megabytes: str) -> None:
    source = TABLES[table]() if table in TABLES else table
    peak, done = [resident_bytes()], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], resident_bytes())

    threading.Thread(target=watch, daemon=True).start()
    limits = {"time_limit": float(seconds) or None, "memory_limit": int(megabytes) << 20 or None}
    begin, processor = working_seconds(), time.process_time()
    try:
        report, stopped = lawful.discover(source, find, engine="local", **limits), None
    except StoppedError as error:  # the table was not read by then
        report, stopped = None, str(error)
    taken = working_seconds() - begin
    done.set()
    told: dict[str, Any] = {"complete": False, "found": {}, "stopped": stopped}
    if report is not None:
        counts = {name: family.found for name, family in report.families.items() if family.found}
        told = {"complete": report.complete, "found": counts, "stopped": report.stopped_because}
    told |= {"seconds": taken, "processor_seconds": time.process_time() - processor, "peak_mb": peak[0] >> 20}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave(0)  # without waiting for work that was left behind

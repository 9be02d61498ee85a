"""The processor time of a program and all that it has started, by part: what bounds a run on Spark."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path


def cpu_seconds_by_part() -> Counter[str]:
    """Add up the processor time of all processes of this Unix session by part.

    The parts are this process, Java, and Spark's Python workers.

    What has ended counts with its parent, which has to be of the same part.
    """
    parts: Counter[str] = Counter()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                name = (entry / "comm").read_text().strip()
            except OSError:  # it has just ended
                continue
            if int(fields[3]) == os.getsid(0):
                part = "driver" if int(entry.name) == os.getpid() else "java" if name == "java" else "workers"
                parts[part] += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return parts

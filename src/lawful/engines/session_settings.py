"""What lawful sets on the Spark sessions that it starts itself, and why."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lawful.common.machine import cores, memory_bytes

LOOPBACK = "127.0.0.1"
GIBIBYTE = 1 << 30

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")


def runs_on_this_machine(master: str) -> bool:
    """Tell whether all processes of a session with this master are on this machine."""
    return master == "local" or master.startswith(("local[", "local-cluster["))


def local_threads(master: str) -> int:
    """Count the tasks that a local master runs at once; what it does not say is the number of cores."""
    counts = re.fullmatch(r"local-cluster\[(\d+),\s*(\d+),.*\]", master)
    if counts:
        return int(counts[1]) * int(counts[2])
    if master == "local":
        return 1
    count = re.match(r"local\[(\d+)", master)
    return int(count[1]) if count else cores()


def own_settings(
    master: str, app_name: str, scratch: Path, driver_memory: str | None, extra: Mapping[str, str]
) -> dict[str, str]:
    """List the settings of a session that lawful starts; `extra` has the last word on each of them."""
    settings = {
        "spark.master": master,
        "spark.app.name": app_name,
        # A web server that nobody looks at, and progress bars that would fight with lawful's own.
        "spark.ui.enabled": "false",
        # A server of Spark Connect waits so long for the Python process that runs a stream's function; the usual time
        # is short for what it has to import on a busy machine.
        "spark.python.authenticate.socketTimeout": "120s",
        "spark.ui.showConsoleProgress": "false",
        # What a timestamp means must not depend on the machine that reads it.
        "spark.sql.session.timeZone": "UTC",
        # By default in the current folder, which is the user's.
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": _java_options(extra),
    }
    if driver_memory is not None:
        settings["spark.driver.memory"] = driver_memory
    if runs_on_this_machine(master):
        settings |= {
            # Nothing else has to reach the driver, and a laptop's own name often does not resolve.
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.host": LOOPBACK,
            # The default of 200 is made for clusters: here it would be 200 tasks that do next to nothing.
            "spark.sql.shuffle.partitions": str(2 * local_threads(master)),
        }
        if "PYSPARK_PYTHON" not in os.environ:  # else the workers' Python need not have lawful
            settings["spark.python.daemon.module"] = "lawful.engines.python_daemon"
        settings.setdefault("spark.driver.memory", default_driver_memory())
    return settings | {key: value for key, value in extra.items() if key != "spark.driver.extraJavaOptions"}


def quick_start() -> dict[str, str]:
    """List settings with which Spark answers soon: where it has nothing heavy to do itself but hands out checks.

    Elsewhere Java's own choice of compiler and Spark's generated code stay, which run faster once they are warm.
    """
    return {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }


def _java_options(extra: Mapping[str, str]) -> str:
    """Add where the log settings are to the options that are asked for."""
    asked = extra.get("spark.driver.extraJavaOptions", "")
    return f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()} {asked}".strip()


def default_driver_memory() -> str:
    """Give a quarter of the memory that this process may use, between 1 and 8 GiB, in Spark's notation.

    The rest is for the Python workers, which hold the encoded tables.
    """
    return f"{min(max(memory_bytes() // 4, GIBIBYTE), 8 * GIBIBYTE) >> 20}m"


@contextmanager
def spark_environment(master: str) -> Iterator[None]:
    """Set the environment variables that Spark reads while it starts, and put the old ones back."""
    wanted = {}
    if "PYSPARK_PYTHON" not in os.environ:
        # Else the workers are whatever `python3` is on the PATH, which need not have lawful or pyarrow.
        wanted["PYSPARK_PYTHON"] = wanted["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if runs_on_this_machine(master) and "SPARK_LOCAL_IP" not in os.environ:
        # Spark looks up the machine's own name before it reads a setting, and fails if it does not resolve.
        wanted["SPARK_LOCAL_IP"] = LOOPBACK
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

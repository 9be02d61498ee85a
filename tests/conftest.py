"""What many tests share: one Spark session in this process, and clusters, started when first asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import examples
import pytest
from clusters import QUICK_START, SHORT_LIVED_JAVA, Cluster, cluster
from compile_once import compile_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

examples.register()

# Most tests have caches of their own, and each would have an archive of 150 MB written for sessions to come.
os.environ["LAWFUL_CLASS_ARCHIVE"] = "off"
os.environ.update(SHORT_LIVED_JAVA)


# The contract of the local engine compiles most kernels, which are found on disk by everything after it. Meanwhile the
# other process waits for Java where no kernel is needed.
FIRST = (
    "tests/engines/test_conformance.py",
    "local",
    "tests/engines/test_java.py",
    "spark",
    "standalone",
    "connect",
    "tests/test_read_only_places.py",
    "tests/discovery/test_checkpoint.py",
)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # this is one of several processes
        compile_once()


@pytest.hookimpl(tryfirst=True)  # so that xdist sees the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the tests, each Spark is started by one of them only, and first."""
    if not hasattr(config, "workerinput"):
        return
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_started_for(item) or item.nodeid.partition("::")[0]))
    items.sort(key=lambda item: _turn(item.get_closest_marker("xdist_group").args[0]))


def _turn(group: str) -> int:
    """When a group of tests is begun: what takes long comes first, so that the processes end at about the same time."""
    return FIRST.index(group) if group in FIRST else len(FIRST)


def _started_for(item: pytest.Item) -> str | None:
    """What a test shares with others, and takes long to start: this process's Spark, or a kind of cluster."""
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    needed = getattr(item, "fixturenames", ())
    if "cluster_of" in needed:
        return str(given.get("kind", "local"))
    asked = "spark" in needed or any(isinstance(value, str) and value == "spark" for value in given.values())
    return "spark" if asked else None


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests of this process: starting one costs more than most tests.

    It is lawful's own, so that the tests run on the settings that users get; few differ.
    """
    from lawful.engines.session import spark_session

    settings = QUICK_START | {
        # Test tables are tiny: each further partition is a task that does nothing.
        "spark.sql.shuffle.partitions": "2",
        # Adaptive execution would merge the partitions that the tests mean to keep apart.
        "spark.sql.adaptive.enabled": "false",
        # A failing task is a failing test, not something to try again.
        "spark.task.maxFailures": "1",
    }
    with spark_session(master="local[2]", app_name="lawful-tests", driver_memory="1g", extra=settings) as handle:
        yield handle.spark


@pytest.fixture(scope="session")
def cluster_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Cluster]]:
    """Give the cluster of a kind, one of `clusters.EVERY_KIND`; it runs until the last test is done."""
    started: dict[str, Cluster] = {}
    with ExitStack() as stack:

        def give(kind: str) -> Cluster:
            if kind not in started:
                started[kind] = stack.enter_context(cluster(kind, tmp_path_factory.mktemp(kind)))
            return started[kind]

        yield give

"""What many tests share: one Spark session in this process, and clusters, started when first asked for."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import examples
import pytest
from clusters import QUICK_START, SHORT_LIVED_JAVA, Cluster, cluster
from compile_once import compile_once
from groups import ByGroup, put_in_order

from lawful.common import small_work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

examples.register()

# Most tests have caches of their own, and each would have an archive of 150 MB written for sessions to come.
os.environ["LAWFUL_CLASS_ARCHIVE"] = "off"
os.environ.update(SHORT_LIVED_JAVA)
# Tables of tests are small, but what is tested is the machine code. Commands in other processes are as users have them.
small_work.most_cells = 0

GROUPS = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # this is one of several processes
        compile_once()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup | None:
    return ByGroup(config.stash[GROUPS], config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    if GROUPS not in node.config.stash:
        node.config.stash[GROUPS] = Path(tempfile.mkdtemp(prefix="lawful-tests-"))
    node.workerinput["groups"] = str(node.config.stash[GROUPS] / node.gateway.id)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        put_in_order(items, Path(config.workerinput["groups"]))


def pytest_unconfigure(config: pytest.Config) -> None:
    if GROUPS in config.stash:
        shutil.rmtree(config.stash[GROUPS], ignore_errors=True)


@pytest.fixture(scope="module")
def cache_of_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep encoded tables in a folder that only the tests of one module use."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Let tests press Ctrl-C: shells have it ignored by what they start in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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

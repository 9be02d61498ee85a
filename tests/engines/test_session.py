from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import EVERY_KIND

from lawful.common.errors import EngineError, UsageError
from lawful.common.machine import cores
from lawful.engines import session as session_module
from lawful.engines.session import SessionHandle, spark_session
from lawful.engines.session_settings import (
    local_threads,
    own_settings,
    runs_on_this_machine,
    spark_environment,
)

MAP_IN_WORKERS = """
import sys
from clusters import answer, executor_pids, open_session

def where_each_row_runs(batches):
    import lawful
    import pyarrow
    for batch in batches:
        python = [sys.executable] * batch.num_rows
        version = [lawful.__version__] * batch.num_rows
        yield pyarrow.RecordBatch.from_arrays([batch.column(0), python, version], ["id", "python", "version"])

with open_session() as spark:
    schema = "id long, python string, version string"
    rows = spark.range(6, numPartitions=2).mapInArrow(where_each_row_runs, schema).collect()
    zone = spark.conf.get("spark.sql.session.timeZone")
    answer({"rows": sorted(map(tuple, rows)), "zone": zone, "executors": len(executor_pids())})
"""


@pytest.mark.slow  # the conformance suite needs as much of every kind, and runs by default
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_workers_import_lawful_on_every_kind_of_cluster(kind, cluster_of):
    import lawful

    told = cluster_of(kind).run(MAP_IN_WORKERS)
    assert told["rows"] == [[number, sys.executable, lawful.__version__] for number in range(6)]
    assert told["zone"] == "UTC"
    assert told["executors"] == (2 if kind in ("local-cluster", "standalone") else 0)


def test_the_active_session_is_used_and_left_alone(spark):
    before = dict(spark.conf.getAll)
    with spark_session() as handle:
        assert handle.spark is spark
        assert not handle.owned
    with spark_session(master="local[2]", extra={"spark.sql.shuffle.partitions": "99"}) as handle:
        assert not handle.owned
    assert dict(spark.conf.getAll) == before
    assert spark.range(3).count() == 3


@pytest.mark.parametrize("asked", [{"master": "local[7]"}, {"remote": "sc://somewhere"}])
def test_another_session_beside_the_active_one_is_refused(spark, asked):
    with pytest.raises(UsageError, match=r"active already on local\[2\]"):
        spark_session(**asked)


def test_master_and_remote_exclude_each_other():
    with pytest.raises(UsageError, match="Both a master"):
        spark_session(master="local[2]", remote="sc://somewhere")


QUIET = """
import pathlib, sys, tempfile
from clusters import answer
from lawful.engines.session import spark_session
from lawful.common.errors import EngineError

try:
    spark_session(master="local[nonsense]")
except EngineError as error:
    refused = str(error)
artifact = pathlib.Path(tempfile.mkdtemp()) / "artifact.txt"
artifact.write_text("x")
with spark_session(master="local[2]", extra={"spark.sql.shuffle.partitions": "3"}) as first:
    first.spark.addArtifacts(str(artifact), file=True)
    first.spark.createDataFrame([(1,)], "a int").write.saveAsTable("kept_out_of_the_current_folder")
    partitions = first.spark.conf.get("spark.sql.shuffle.partitions")
with spark_session(master="local[1]") as second:
    again = second.spark.range(4).count()
answer([refused, first.owned, partitions, second.owned, again])
"""


@pytest.mark.cluster  # starts one Spark after another
def test_own_sessions_are_quiet_tidy_and_can_follow_each_other(cluster_of, tmp_path):
    place = cluster_of("local")
    script = tmp_path / "quiet.py"
    script.write_text(QUIET)
    refused, *told = place.run(script)
    assert "local[nonsense]" in refused
    assert told == [True, "3", True, 4]
    assert (place.folder / "quiet.log").read_text() == ""
    left = {path.name for path in place.folder.iterdir()}
    assert not left & {"spark-warehouse", "artifacts", "metastore_db", "derby.log"}


@pytest.mark.slow
@pytest.mark.cluster
def test_a_connect_session_can_be_followed_by_a_classic_one(cluster_of):
    script = """
from clusters import answer, open_session
from lawful.engines.session import spark_session
with open_session() as remote:
    first = remote.range(2).count()
with spark_session(master="local[1]") as handle:
    answer([first, handle.spark.range(3).count()])
"""
    assert cluster_of("connect").run(script) == [2, 3]


@pytest.fixture
def no_session(monkeypatch):
    """Hide the session that other tests share, to see what happens without one."""
    monkeypatch.setattr(session_module, "_active_session", lambda: None)


@pytest.mark.usefixtures("no_session")
@pytest.mark.parametrize("asked", [{"master": "spark://127.0.0.1:{}"}, {"remote": "sc://127.0.0.1:{}"}])
def test_nobody_listening_is_told_before_spark_is_asked(asked, monkeypatch):
    """Spark itself would try for one to ten minutes."""
    monkeypatch.setattr("pyspark.sql.SparkSession", None)
    monkeypatch.setattr(session_module, "ensure_java", None)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(EngineError, match="cannot be reached"):
        spark_session(**{way: address.format(port) for way, address in asked.items()})


@pytest.mark.usefixtures("no_session")
@pytest.mark.parametrize("asked", [{"master": "spark://host"}, {"remote": "http://host"}, {"remote": "sc://"}], ids=str)
def test_addresses_that_are_none_are_bad_usage(asked):
    with pytest.raises(UsageError, match="Write it as"):
        spark_session(**asked)


def test_missing_pyspark_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError, match=r"lawful\[spark\]"):
        spark_session()


def test_only_owned_sessions_are_stopped():
    class Session:
        stopped = False

        def stop(self) -> None:
            self.stopped = True

    users, own = Session(), Session()
    SessionHandle(users, owned=False).close()
    SessionHandle(own, owned=True).close()
    assert (users.stopped, own.stopped) == (False, True)


@pytest.mark.parametrize(
    ("master", "threads"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3,2]", 3),
        ("local-cluster[2,4,1024]", 8),
        ("local[*]", cores()),
    ],
)
def test_threads_of_local_masters(master, threads):
    assert runs_on_this_machine(master)
    assert local_threads(master) == threads


def test_extra_settings_win_and_java_options_add_up():
    extra = {"spark.ui.enabled": "true", "spark.driver.extraJavaOptions": "-Dmine=1"}
    settings = own_settings("local[2]", "name", Path("/scratch"), "3g", extra)
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.driver.memory"] == "3g"
    assert settings["spark.driver.extraJavaOptions"].startswith("-Dlog4j2.configurationFile=file:///")
    assert settings["spark.driver.extraJavaOptions"].endswith(" -Dmine=1")


def test_a_cluster_elsewhere_keeps_its_own_addresses_and_sizes():
    settings = own_settings("spark://host:7077", "name", Path("/scratch"), None, {})
    assert not {"spark.driver.host", "spark.driver.memory", "spark.sql.shuffle.partitions"} & settings.keys()


def test_the_environment_is_put_back(monkeypatch):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.2")
    before = dict(os.environ)
    with spark_environment("local[2]"):
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
        assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.2"
    assert dict(os.environ) == before


def test_the_module_is_imported_without_pyspark():
    program = "import sys, lawful.engines.session; print('pyspark' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"

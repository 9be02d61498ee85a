"""Getting a Spark session: the user's own if there is one, else one that lawful starts and stops.

A session that the user made is used exactly as it is. Only sessions started here get settings, and only they
are stopped when the work is done.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lawful.common.closing import Closing
from lawful.common.errors import EngineError, LawfulError, UsageError
from lawful.engines.class_archive import ClassArchive, class_archive
from lawful.engines.java import ensure_java
from lawful.engines.session_settings import own_settings, spark_environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
CONNECT_PORT = 15002
REACH_SECONDS = 10.0
LOG_LINES_QUOTED = 8
_SCRATCH = "lawful-spark-"

_NOTHING: Mapping[str, str] = MappingProxyType({})
_PROXY_VARIABLES = ("grpc_proxy", "https_proxy", "http_proxy")


@dataclass(frozen=True)
class SessionHandle(Closing):
    """A Spark session, and whether it is ours to stop. `with` stops it at the end if it is."""

    spark: SparkSession
    owned: bool

    def close(self) -> None:
        """Stop the session if lawful started it; leave a session of the user's alone."""
        if self.owned:
            # Whatever fails here fails because Spark is gone already, and then nothing is left to stop.
            with suppress(Exception):
                self.spark.stop()
            _leave_connect_mode()


def spark_session(
    master: str | None = None,
    remote: str | None = None,
    app_name: str = "lawful",
    driver_memory: str | None = None,
    extra: Mapping[str, str] = _NOTHING,
) -> SessionHandle:
    """Give the active Spark session, or start one.

    Parameters
    ----------
    master
        Where to run, as Spark writes it: `local[*]` (the default), `spark://host:7077`, `yarn`.
    remote
        A Spark Connect server, `sc://host:15002`; excludes `master`. SPARK_REMOTE is the default.
    app_name
        The name that a cluster shows for a session that is started.
    driver_memory
        The most memory that the Java process of a new session may use, as `4g`. It has no effect once this
        Python process has started Java, which keeps running until the end.
    extra
        More Spark settings for a new session; they win over lawful's.

    Returns
    -------
    SessionHandle
        The session that is active already, untouched and not owned, if `master` and `remote` are left out or
        name what it runs on. Else a new one, owned.

    Raises
    ------
    UsageError
        When PySpark is missing, or the arguments contradict each other or a session that is active.
    JavaNotFoundError
        When a session has to be started and there is no Java for it.
    EngineError
        When Spark does not start, or the master or server cannot be reached.
    """
    if master is not None and remote is not None:
        raise UsageError(f"Both a master ({master}) and a remote ({remote}) are given.", "Give one of them.")
    _require_pyspark()
    active = _active_session()
    if active is not None:
        _refuse_another(active, master, remote)
        return SessionHandle(active, owned=False)
    if master is None and remote is None:
        remote = os.environ.get("SPARK_REMOTE")
    if remote is not None and not remote.startswith("local"):
        return SessionHandle(_connect(remote, extra), owned=True)
    if "PYSPARK_GATEWAY_PORT" in os.environ and master is None and remote is None:
        return SessionHandle(_submitted_session(extra), owned=True)
    started = _start(remote or master or DEFAULT_MASTER, remote is not None, app_name, driver_memory, extra)
    return SessionHandle(started, owned=True)


def _require_pyspark() -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"PySpark cannot be imported: {error}.",
            "Run: pip install 'lawful[spark]'\nor choose the engine `local`, which needs no Spark.",
        ) from error


def _active_session() -> SparkSession | None:
    """Find the session that the user's program has made and not stopped yet."""
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.active()
    except Exception:  # there is none, which shows in several ways
        return None
    return session if is_alive(session) else None


def is_alive(session: SparkSession) -> bool:
    """Whether a session was not stopped: it can still be registered as the default one, so it is asked something."""
    try:
        if _is_connect(session):
            return not getattr(session, "is_stopped", False)
        return bool(session.sparkContext.defaultParallelism > 0)
    except Exception:  # its Java process is gone, which shows in many ways
        return False


def _is_connect(session: SparkSession) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


def _refuse_another(active: SparkSession, master: str | None, remote: str | None) -> None:
    """Stop a request for another session: PySpark would quietly answer with the active one, changed."""
    if master is None and remote is None:
        return
    runs_on = None if _is_connect(active) else active.sparkContext.master
    if master is not None and master == runs_on:
        return
    raise UsageError(
        f"{master or remote} is asked for, but a Spark session is active already"
        + (f" on {runs_on}." if runs_on else " through Spark Connect."),
        "Stop that session first, or leave out master and remote to use it.",
    )


def _connect(remote: str, extra: Mapping[str, str]) -> SparkSession:
    address = urlsplit(remote)
    if address.scheme != "sc" or not address.hostname:
        raise UsageError(f"{remote!r} is not a Spark Connect server's address.", "Write it as sc://host:15002")
    if not any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXY_VARIABLES):
        _reach([(address.hostname, address.port or CONNECT_PORT)], f"The Spark Connect server {remote}")
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session = SparkSession.builder.remote(remote).create()
    except ImportError as error:
        raise UsageError(f"Spark Connect needs more packages: {error}.", "Run: pip install 'lawful[spark]'") from error
    # Spark repeats a call for ten minutes; that the very first one fails should be told soon.
    patient = session.client.get_retry_policies()
    session.client.set_retry_policies([DefaultPolicy(max_retries=3)])
    try:
        for key, value in {"spark.sql.session.timeZone": "UTC", **extra}.items():
            session.conf.set(key, value)
    except Exception as error:  # whatever it raises, the server does not answer as Spark Connect
        session.client.set_retry_policies([])
        SessionHandle(session, owned=True).close()
        raise EngineError(
            f"The Spark Connect server {remote} refused the session: {_reason(error)}",
            "Check the address, the token, and that the server's Spark is of the same line as this PySpark.",
        ) from error
    session.client.set_retry_policies(patient)
    return session


def _leave_connect_mode() -> None:
    """Forget that this process used Spark Connect: PySpark never does, and would start nothing else again."""
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)


def _submitted_session(extra: Mapping[str, str]) -> SparkSession:
    """Make the session of a program that spark-submit started: master and settings were chosen there."""
    from pyspark.sql import SparkSession

    try:
        return SparkSession.builder.config(map=dict(extra)).getOrCreate()
    except Exception as error:  # Java, py4j and Spark raise errors of many kinds here
        raise EngineError(f"Spark did not start: {_reason(error)}") from error


def _start(
    master: str, through_connect: bool, app_name: str, driver_memory: str | None, extra: Mapping[str, str]
) -> SparkSession:
    from pyspark.sql import SparkSession

    if master.startswith("spark://"):
        _reach(_standalone_masters(master), f"The Spark master {master}")
    archive = class_archive(ensure_java())
    settings = own_settings(master, app_name, _scratch(), driver_memory, extra)
    if archive.option is not None:
        settings["spark.driver.extraJavaOptions"] += f" {archive.option}"
    try:
        with spark_environment(master):
            _start_java(settings, archive)
            if through_connect:
                settings["spark.remote"] = settings.pop("spark.master")
            with warnings.catch_warnings():
                # A Connect session is given the settings of its server once more, and warns of each.
                warnings.filterwarnings("ignore", message="Failed to set spark")
                return SparkSession.builder.config(map=dict(settings)).getOrCreate()
    except LawfulError:
        raise
    except Exception as error:  # Java, py4j and Spark raise errors of many kinds here
        raise EngineError(f"Spark did not start on {master}: {_reason(error)}", _quote_log()) from error


def _start_java(settings: Mapping[str, str], archive: ClassArchive) -> None:
    """Start Spark's Java process with its output in a file instead of on the user's terminal.

    Java and Spark's shell scripts print before any setting of theirs can silence them, and the Python workers
    inherit the same output. PySpark keeps one Java process for all sessions of a Python process.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with _log_file().open("ab") as log:
        gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]  # PySpark leaves it untyped
    archive.started(gateway.proc.pid)
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def _standalone_masters(master: str) -> list[tuple[str, int]]:
    """Split `spark://host:port,host:port`, the form for a cluster with masters in reserve."""
    addresses = []
    for address in master.removeprefix("spark://").split(","):
        parts = urlsplit(f"//{address}")
        if not parts.hostname or not parts.port:
            raise UsageError(f"{master!r} is not the address of a Spark master.", "Write it as spark://host:7077")
        addresses.append((parts.hostname, parts.port))
    return addresses


def _reach(addresses: list[tuple[str, int]], what: str) -> None:
    """Fail soon when nothing listens at any address; Spark itself would try for one to ten minutes."""
    failure: OSError | None = None
    for address in addresses:
        try:
            socket.create_connection(address, timeout=REACH_SECONDS).close()
            return
        except OSError as error:
            failure = error
    raise EngineError(
        f"{what} cannot be reached: {failure}.",
        "Check the address, and that it is running and not behind a firewall.",
    ) from failure


@functools.cache
def _scratch() -> Path:
    """Make the folder for what Spark would otherwise leave in the current one; it goes when Python ends."""
    folder = Path(tempfile.mkdtemp(prefix=_SCRATCH))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def is_scratch(place: str) -> bool:
    """Whether a place is in such a folder, of this process or of another."""
    return f"/{_SCRATCH}" in place


def _log_file() -> Path:
    return _scratch() / "spark.log"


def _quote_log() -> str | None:
    """Quote the end of what Spark said, without the traces, which say nothing to a user."""
    try:
        said = _log_file().read_text(errors="replace").splitlines()
    except OSError:
        return None
    lines = [line for line in said if line.strip() and not line.lstrip().startswith(("at ", "... "))]
    return "\n  ".join(["Spark's last words were:", *lines[-LOG_LINES_QUOTED:]]) if lines else None


def _reason(error: Exception) -> str:
    """Say what went wrong in one line: the errors of Java and gRPC carry their whole trace in their text."""
    if (java_error := getattr(error, "java_exception", None)) is not None:
        text = str(java_error.getMessage())
    elif callable(details := getattr(error, "details", None)):
        text = str(details())
    else:
        text = str(error)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)

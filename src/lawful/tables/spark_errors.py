"""Errors of Spark, said in lawful's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lawful.common.errors import EngineError, LawfulError, SourceError

_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@contextmanager
def translated() -> Iterator[None]:
    """Raise what Spark raises as an error of ours, with the part that a person can act on."""
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, ParseException, PySparkException

    try:
        yield
    except LawfulError:
        raise
    except (AnalysisException, ParseException) as error:
        raise source_error(str(error)) from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"a text of the source is not UTF-8: {error}",
            "Cast the column to binary, or leave it out by naming the others with --columns.",
        ) from error
    except (PySparkException, Py4JError) as error:
        raise engine_error(error) from error


def source_error(text: str) -> SourceError:
    """What Spark says of a source, and what to do where that is known."""
    advice = None
    if "COLUMN_ALREADY_EXISTS" in text or "AMBIGUOUS_REFERENCE" in text:
        advice = (
            "To Spark names that differ in case are the same: rename one, or say --conf spark.sql.caseSensitive=true."
        )
    return SourceError(f"Spark cannot read the source: {_first_line(text)}", advice)


def engine_error(error: BaseException) -> EngineError:
    """What went wrong on the cluster, in one sentence, and what to do where that is known."""
    text = str(error)
    if missing := _MISSING_MODULE.search(text):
        module = missing.group(1).partition(".")[0]
        return EngineError(
            f"Spark's Python workers have no module {module!r}",
            f"Install {module} on every worker, or set PYSPARK_PYTHON to an interpreter there that has it.",
        )
    if "S3AFileSystem not found" in text:
        return EngineError(
            "Spark has no reader for s3a:// paths",
            "Say --packages org.apache.hadoop:hadoop-aws:VERSION, with the version of Spark's Hadoop, such as 3.4.1.",
        )
    return EngineError(f"Spark failed: {_last_python_line(text) or _last_java_cause(text) or _first_line(text)}")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")


def _last_java_cause(text: str) -> str | None:
    """The last cause in a Java trace, whose own first line says only which call failed."""
    causes = re.findall(r"^(?:Caused by: |: )(?:[\w$]+\.)+([\w$]+: .+)$", text, re.MULTILINE)
    return causes[-1].strip() if causes else None


def _last_python_line(text: str) -> str | None:
    """The last line of a Python traceback inside a longer message: the exception itself."""
    lines = text.splitlines()
    if not any(line.startswith("Traceback") for line in lines):
        return None
    errors = [line for line in lines if re.match(r"^[\w.]+(Error|Exception)\b", line)]
    return errors[-1] if errors else None

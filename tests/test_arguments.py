"""Wrong arguments of the Python functions: errors of ours that speak of arguments and not of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lawful
from lawful.common.arguments import of_kind
from lawful.common.errors import ArgumentError, LawfulError, UsageError
from lawful.common.python_words import in_pythons_words
from lawful.runs.run import Where

TABLE = pa.table({"a": [1, 2], "b": [1, 1]})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_size": 1.5}, "max_size must be a whole number, not 1.5"),
        ({"max_size": True}, "max_size must be a whole number, not True"),
        ({"error": "0.1"}, "error must be a number, not '0.1'"),
        ({"time_limit": "1"}, "time_limit must be a number, not '1'"),
        ({"memory_limit": 1.5}, "memory_limit must be a whole number, not 1.5"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"find": 3}, "find must be a text or a list of texts, not 3"),
        ({"find": "dc", "constants": "x"}, "constants must be a whole number, not 'x'"),
        ({"find": "dc", "cross_columns": "no"}, "cross_columns must be True or False, not 'no'"),
        ({"find": "dc", "operators": {"a": "<"}}, "operators must be a text or a list of texts"),
        ({"find": "dc", "operatos": ["="]}, r"discover\(\) has no argument 'operatos'\nDid you mean operators\?"),
        (
            {"denials": {"constants": 1}},
            r"no argument 'denials'\nGive what is in it as arguments of their own\..*constants",
        ),
        ({"columns": [1]}, "columns must be a text or a list of texts"),
        ({"types": ["a=string"]}, r'types must be a dictionary, .*\nWrite {"zip": "string"}'),
        ({"limit": "3"}, "limit must be a whole number, not '3'"),
        ({"dialect": ";"}, r'dialect must be a CsvDialect, not .*\nWrite lawful.CsvDialect\(separator=";"\)'),
        ({"spark": "local[2]"}, "spark must be a session or SparkSettings"),
        ({"progress": True}, "progress must be a function, such as print, not True"),
        ({"partial": "laws.json"}, "partial must be a PartialFile"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as raised:
        lawful.discover(TABLE, **wrong)
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, LawfulError)


def test_numbers_of_numpy_are_numbers() -> None:
    assert lawful.discover(TABLE, "key", max_size=np.int64(1), error=np.float32(0)).complete
    assert of_kind("x", np.float64(0.5), float) == 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"find": "dc", "error": 0.1, "measure": "g3"}, '\nUse measure="g1", or leave dc out of find.'),
        ({"find": "key", "unidirectional": True}, "unidirectional is for list-od only.*\nAdd list-od to find, or drop"),
        ({"find": "key", "strategy": "full", "error": 0.1}, "\nDrop strategy or error."),
    ],
)
def test_hints_name_arguments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        lawful.discover(TABLE, **wrong)
    assert "--" not in str(raised.value)
    assert "--" in f"{raised.value.typed_message} {raised.value.typed_hint}"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Use --engine spark.", 'Use engine="spark".'),
        (
            "Check --sep, --quote and --escape.",
            "Check CsvDialect(separator=…), CsvDialect(quote=…) and CsvDialect(escape=…).",
        ),
        (r"For a tab give --sep '\t'.", r"For a tab give CsvDialect(separator='\t')."),
        ("or read the file with --no-header.", "or read the file with CsvDialect(header=False)."),
        ("for example --encoding latin-1.", 'for example CsvDialect(encoding="latin-1").'),
        ("Say it with --format csv, parquet or jsonl.", 'Say it with format="csv", parquet or jsonl.'),
        ("was written with --null ignore, and", 'was written with null="ignore", and'),
        ("say with --null what null means", "say with null what null means"),
        ("Go on with it by --resume, or", "Go on with it by resume=True, or"),
        ("Make one with: lawful maintain STATE --from TABLE", "Make one with: lawful.make_state(path, source)"),
        ("'--columnsx' and a--error stay", "'--columnsx' and a--error stay"),
    ],
)
def test_options_as_python_calls_them(typed: str, expected: str) -> None:
    assert in_pythons_words(typed) == expected


def test_settings_of_the_spark_that_is_started() -> None:
    settings = lawful.SparkSettings(conf={"spark.executor.memory": "8g"}, packages=["a:b:1", "c:d:2"])
    where = Where.of("auto", settings)
    assert where.conf == {"spark.executor.memory": "8g", "spark.jars.packages": "a:b:1,c:d:2"}
    assert where.settle("no such file.csv") == "spark"
    with pytest.raises(UsageError, match=r"'executor\.memory' is no setting of Spark"):
        lawful.SparkSettings(conf={"executor.memory": "8g"})
    with pytest.raises(UsageError, match="a remote one runs already\nDrop packages"):
        lawful.SparkSettings(remote="sc://host", packages=["a:b:1"])
    with pytest.raises(UsageError, match="the local engine uses no Spark, but settings of Spark are given"):
        Where.of("local", settings)

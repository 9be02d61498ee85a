"""The names of targets and dialects, which help lists without loading sqlglot."""

from __future__ import annotations

from typing import Final

TARGETS: Final[dict[str, tuple[str, str, str]]] = {
    "sql": ("sql", "export_sql", "spark"),
    "pyspark": ("pyspark", "export_pyspark", "spark"),
    "dbt": ("dbt", "export_dbt", "duckdb"),
    "gx": ("great_expectations", "export_great_expectations", "duckdb"),
    "dqx": ("dqx", "export_dqx", "databricks"),
    "deequ": ("deequ", "export_deequ", "spark"),
    "soda": ("soda", "export_soda", "duckdb"),
    "odcs": ("odcs", "export_odcs", "duckdb"),
    "ddl": ("ddl", "export_ddl", "databricks"),
    "markdown": ("listings", "export_markdown", "spark"),
    "csv": ("listings", "export_csv", "spark"),
}
"""For each target its module, its function, and the dialect of its queries unless another is asked for."""

DIALECT_NAMES: Final = ("spark", "databricks", "postgres", "duckdb", "snowflake", "bigquery", "trino")

LAW_PROPERTY: Final = "lawfulLaw"
NULL_PROPERTY: Final = "lawfulNull"
"""Custom properties of rules in a data contract: the law, and what null means to it."""

"""Spark's Python daemon with lawful loaded: the workers that it forks have nothing left to import."""

from pyspark.daemon import manager

import lawful.engines.spark_worker  # noqa: F401  # workers need it
from lawful.common.compiled import prepare_to_fork

prepare_to_fork()

if __name__ == "__main__":
    manager()

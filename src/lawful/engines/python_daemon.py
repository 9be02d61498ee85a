"""Spark's Python daemon with lawful loaded: the workers that it forks have nothing left to import."""

from pyspark.daemon import manager

import lawful.engines.spark_worker
import lawful.tables.kernels.lines  # noqa: F401  # with them comes Numba, the slowest to load

if __name__ == "__main__":
    manager()

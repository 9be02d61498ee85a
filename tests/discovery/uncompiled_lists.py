"""Run with NUMBA_DISABLE_JIT=1: the kernels of the search for list ODs as plain Python, which minds every index."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from checks.tables import ArrayTable, ranked
from list_oracle import ListOracle

from lawful.common.meanings import NullPolicy
from lawful.discovery.list_ods import sample as list_sample
from lawful.discovery.list_ods.discover import discover_list_ods
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine


def main() -> None:
    rng = np.random.default_rng(3)
    list_sample._WHOLE_ROWS = 0
    for number in range(30):
        rows, width = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        columns = [ranked(rng.integers(0, rng.integers(1, 5), rows).tolist()) for _ in range(width)]
        columns.append(columns[0].max() - columns[0] + 1)
        table = ArrayTable(columns)
        list_sample._FEWEST, list_sample._MET = 1 + number % 4, number % 3
        engine = LocalEngine(threads=1)
        engine.open(table, NullPolicy.EQUAL)
        question = ListQuestion(bidirectional=number % 2 == 0, with_implied=True, seed=number)
        found = discover_list_ods(Search(table, engine), question)
        stated = {law for listing in found.listings for law in listing.laws()}
        oracle = ListOracle(table.as_rows(), table.width, bidirectional=question.bidirectional)
        assert stated == oracle.minimal()


if __name__ == "__main__":
    main()

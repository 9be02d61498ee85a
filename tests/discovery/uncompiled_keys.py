"""Run with NUMBA_DISABLE_JIT=1: the kernels of the search for keys as plain Python, which minds every index."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from discovery.key_tables import brute_keys, narrow_table
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key
from lawful.discovery.keys_and_fds.key_search import KeySearch
from lawful.search import unpack_sets


def main() -> None:
    for seed in range(40):
        table = narrow_table(seed, 3 + seed % 7, most_rows=20)
        for policy in NullPolicy:
            largest = None if seed % 3 else 2
            search = KeySearch(table, tuple(range(table.width)), policy, largest or table.width, seed)
            found = [keys for _ in iter(lambda s=search: s.finished, True) for keys in unpack_sets(search.advance(50))]
            assert {Key(columns) for columns in found} == brute_keys(table, policy, largest)


if __name__ == "__main__":
    main()

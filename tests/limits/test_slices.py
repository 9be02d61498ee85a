"""Long work comes in slices, between which limits are looked at; slices change no answer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lawful.common.errors import StoppedError
from lawful.common.machine import memory_bytes
from lawful.common.meanings import NullPolicy
from lawful.common.memory import make_room, memory_kept_below, most_without_limit, resident_bytes
from lawful.discovery.pods.questions import order_space
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence import count_table
from lawful.evidence.count_table import CountTable
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.vector_set import VectorSet
from lawful.runs.stopping import UserWatch
from lawful.search import hitting_sets, sets
from lawful.search.hitting_sets import HittingSetSearch, nodes_a_slice
from lawful.search.sets import by_size, distinct_sets, fresh_columns, minimal_sets
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

FAMILIES = arrays.arrays(np.uint64, st.tuples(st.integers(1, 60), st.integers(1, 2)), elements=st.integers(0, 255))


class Looks:
    """Counts looks, and ends the work at one of them."""

    def __init__(self, most: int | None = None) -> None:
        self.count, self.most = 0, most

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.most:
            raise StoppedError("enough")


@given(FAMILIES)
def test_minimal_sets_and_fresh_columns_come_in_slices(family: np.ndarray) -> None:
    ordered = by_size(distinct_sets(family))
    minimal, fresh = minimal_sets(family), fresh_columns(ordered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sets, "_FEW_SETS", 0)
        patch.setattr(sets, "BLOCKS_A_SLICE", 1)
        looks = Looks()
        assert minimal_sets(family, looks).tolist() == minimal.tolist()
        if len(minimal) > 1:
            assert looks.count > len(minimal), "one look for each set at the least"
        looks = Looks()
        assert fresh_columns(ordered, looks).tolist() == fresh.tolist()
        assert looks.count >= len(ordered) - 1
        if len(minimal) > 1:
            with pytest.raises(StoppedError):
                minimal_sets(family, Looks(2))


def test_a_search_looks_more_often_where_a_node_reads_more(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    edges = minimal_sets(random.integers(1, 1 << 20, (60, 1)).astype(np.uint64))
    calls = []
    for words in (1 << 26, 1):
        monkeypatch.setattr(hitting_sets, "_SLICE_WORDS", words)
        search, found, count = HittingSetSearch(edges), [], 0
        while not search.finished:
            found.append(search.advance(1 << 15))
            count += 1
        calls.append((count, sorted(np.concatenate(found)[:, 0].tolist())))
    assert calls[0][1] == calls[1][1]
    assert calls[0][0] < 10 < calls[1][0]
    assert nodes_a_slice(np.zeros((1 << 27, 1), np.uint64)) == 1


def test_a_table_of_counts_grows_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_table, "_SLOTS_AT_ONCE", 64)
    asked = 0

    def stops() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    table = CountTable(2)
    with pytest.raises(StoppedError):
        table.reserve(1 << 12, stops)
    assert asked == 6


def test_room_is_asked_for_before_it_is_taken() -> None:
    make_room(1 << 60)  # nobody keeps a limit
    with memory_kept_below(resident_bytes() + (64 << 20)):
        make_room(1 << 10)
        before = resident_bytes()
        for grow in (
            lambda: make_room(1 << 40),
            lambda: VectorSet(1, 2).reserve(1 << 30),
            lambda: CountTable(2).reserve(1 << 30),
        ):
            with pytest.raises(StoppedError, match="memory limit"):
                grow()
        assert resident_bytes() - before < 2 << 30
    make_room(1 << 60)


def test_a_wide_space_is_laid_out_between_looks() -> None:
    table = encode_arrow(pa.table({"a": [1, 2], "b": [2, 1], "c": [3, 3]}), ReadOptions())
    looks = Looks()
    DenialPool(table, order_space(3), NullPolicy.EQUAL, looks)
    assert looks.count >= 2 * 3
    for most in range(1, looks.count + 1):
        with pytest.raises(StoppedError, match="enough"):
            DenialPool(table, order_space(3), NullPolicy.EQUAL, Looks(most))


def test_without_a_limit_a_share_of_the_machine_is_kept() -> None:
    assert 0.75 * memory_bytes() - 1 <= most_without_limit() < memory_bytes()


def test_a_search_says_which_limit_ended_it_though_memory_is_free_again() -> None:
    class Relieved(UserWatch):
        def reason(self) -> str | None:
            self.reached = "the memory limit was reached"
            return None

    ranked, engine = encode_arrow(pa.table({"a": [1, 2]}), ReadOptions()), LocalEngine(threads=1)
    search = Search(ranked, engine, Relieved(None, None))
    with search.to_the_end():
        search.look()
        raise StoppedError("comparing was stopped")
    assert search.findings.stopped_because == "the memory limit was reached"

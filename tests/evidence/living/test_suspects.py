"""The pairs that can break a canonical order dependency are all found, of tables of any width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maintenance.changing_tables import Row, arrow_of

from lawful.common.meanings import NullPolicy
from lawful.evidence.living import suspects
from lawful.evidence.living.orders import TableKeys
from lawful.evidence.living.suspects import Suspects, Swap
from lawful.search import pack_sets
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions


@given(data=st.data(), policy=st.sampled_from(list(NullPolicy)), most=st.sampled_from([16, 3]))
def test_every_pair_of_a_new_row_that_breaks_a_law_is_listed_once(
    data: st.DataObject, policy: NullPolicy, most: int
) -> None:
    width = data.draw(st.sampled_from([2, 3, 7, 18, 70]))
    cell = st.one_of(st.none(), st.integers(0, 2))
    rows: list[Row] = data.draw(st.lists(st.tuples(*[cell] * width), min_size=2, max_size=7))
    first = data.draw(st.integers(0, len(rows) - 1))
    swaps = st.builds(
        lambda pair, descends: Swap(min(pair), max(pair), descends),
        st.lists(st.integers(0, width - 1), min_size=2, max_size=2, unique=True),
        st.integers(0, 1),
    )
    columns = st.lists(st.integers(0, width - 1), max_size=2)
    laws = data.draw(st.lists(st.tuples(swaps, columns), min_size=1, max_size=5))
    contexts: dict[Swap, list[set[int]]] = {}
    for swap, context in laws:
        contexts.setdefault(swap, []).append(set(context) - {swap.left, swap.right})
    table = LivingTable.of(encode_arrow(arrow_of(rows, width), ReadOptions(), "rows"))
    gone = data.draw(st.sets(st.integers(0, first - 1))) if first else set()
    table.change(np.array(sorted(gone), np.int64), np.empty((width, 0), np.int32))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(suspects, "_MOST_COLUMNS", most)
        packed = {swap: pack_sets(sets, width) for swap, sets in contexts.items()}
        found = Suspects(TableKeys(table), policy, packed).pairs(range(first, len(rows)), lambda: None)
        pairs = [tuple(pair) for part in found for pair in part.tolist()]
    assert len(pairs) == len(set(pairs))
    assert all(one < other and other >= first and one not in gone for one, other in pairs)
    for other in range(first, len(rows)):
        for one in set(range(other)) - gone:
            if any(_breaks(rows[one], rows[other], swap, sets, policy) for swap, sets in contexts.items()):
                assert (one, other) in pairs


def _breaks(one: Row, other: Row, swap: Swap, contexts: list[set[int]], policy: NullPolicy) -> bool:
    def sign(column: int) -> int | None:
        if policy is NullPolicy.IGNORE and None in (one[column], other[column]):
            return None
        a, b = (-1 if row[column] is None else row[column] for row in (one, other))
        assert a is not None and b is not None  # noqa: PT018  # one statement for both
        return (a > b) - (a < b)

    left, right = sign(swap.left), sign(swap.right)
    if not left or not right or (left == right) != (swap.descends == 1):
        return False
    return any(all(sign(column) == 0 for column in context) for context in contexts)

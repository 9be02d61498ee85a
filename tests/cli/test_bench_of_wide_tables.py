"""The generated wide tables that keys and FDs are timed on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.wide_cases import CASES, CURVE, GENERATED
from bench.wide_tables import WideTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions


@pytest.mark.parametrize("entities", [1, 3])
def test_a_wide_table_is_as_described(entities: int, tmp_path: Path) -> None:
    made = WideTable(300, 40, entities, seed=7)
    codes = made.codes()
    assert np.array_equal(codes, made.codes())
    assert not np.array_equal(codes, WideTable(300, 40, entities, seed=8).codes())
    assert len(codes) == 40
    assert len(np.unique(codes, axis=1).T) == codes.shape[1] <= 300
    assert (codes == -1).any()
    table = encode_in_process(str(made.write(tmp_path)), ReadOptions(), reuse=False)
    assert (table.rows, table.width) == (codes.shape[1], 40)
    assert [table.distinct(c) for c in range(40)] == [len(np.unique(column[column >= 0])) for column in codes]


def test_all_columns_of_an_entity_follow_from_its_number() -> None:
    codes = WideTable(400, 9, entities=1).codes()  # too narrow for remarks
    number = max(codes, key=lambda column: len(np.unique(column)))
    for column in codes:
        assert len(np.unique(np.stack([number, column]), axis=1).T) == len(np.unique(number))


def test_every_table_has_its_cases() -> None:
    assert len({table.name for table in (*GENERATED, *CURVE)}) == len(GENERATED) + len(CURVE)
    assert (
        sum(name.startswith("wide-keys") for name in CASES) == sum(name.startswith("wide-fds") for name in CASES) > 10
    )

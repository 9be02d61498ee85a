"""Few rows decide the laws of a table: once their laws hold on all rows, both have the same ones."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import FD, Key, ListOD
from lawful.discovery.questions import Watch
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread import deciding_rows
from lawful.maintenance.spread.deciding_rows import DecidingRows
from maintenance.changing_tables import Row, arrow_of, expected_laws, rows_of

WIDTH = 4
ALL_KINDS = ("key", "fd", "canonical-od", "list-od", "pod")


def deciding(rows: list[Row]) -> DecidingRows:
    texts = arrow_of(rows, WIDTH).cast(pa.schema([(f"c{n}", pa.string()) for n in range(WIDTH)]))
    table = texts.add_column(0, "row", pa.array(range(len(rows)), pa.int64()))
    return DecidingRows(table, (ColumnType.INTEGER,) * WIDTH)


def settings(data: st.DataObject) -> StateSettings:
    find = tuple(data.draw(st.lists(st.sampled_from(ALL_KINDS), min_size=1, unique=True)))
    policy = NullPolicy.EQUAL if "list-od" in find else data.draw(st.sampled_from(NullPolicy))
    return StateSettings(find, policy, data.draw(st.sampled_from([None, 1, 2])))


@given(data=st.data(), rows=rows_of(WIDTH, 12))
def test_laws_that_hold_on_all_rows_are_all_laws(data: st.DataObject, rows: list[Row]) -> None:
    asked, every = settings(data), deciding(rows)
    some = DecidingRows(every.table.slice(0, data.draw(st.integers(0, 3))), every.types)
    while True:
        sought = some.laws(asked, Watch())
        pairs = every.refuting(sought.checked, asked)
        broken = {place for pair in pairs.values() if pair is not None for place in pair}
        if not broken:
            break
        grown = some.plus(every.table.take(pa.array(sorted(broken), pa.int64())))
        assert grown.table.num_rows > some.table.num_rows, "two rows that break a law of these rows are not both known"
        some = grown
    expected = every.laws(asked, Watch())
    assert set(sought.told) == set(expected.told)
    assert set(sought.checked) == set(expected.checked)


@given(rows=rows_of(WIDTH, 10), policy=st.sampled_from(NullPolicy))
def test_keys_and_fds_are_those_of_brute_force(rows: list[Row], policy: NullPolicy) -> None:
    every = deciding(rows)
    found = every.laws(asked := StateSettings(null=policy), Watch())
    assert set(found.told) == expected_laws(rows, WIDTH, policy)
    by_key = {law for law in found.told if isinstance(law, FD) and Key(law.lhs) in found.checked}
    assert set(found.told) - by_key <= set(found.checked), "all that is told is checked, or follows from a key that is"
    assert not by_key & set(found.checked), "what follows from a key needs no check of its own"
    assert set(every.refuting(found.checked, asked).values()) <= {None}, "what is checked holds on these rows"


@given(rows=rows_of(WIDTH, 10))
def test_lists_are_told_and_what_they_follow_from_is_checked(rows: list[Row]) -> None:
    found = deciding(rows).laws(StateSettings(("list-od",), max_size=2), Watch())
    assert all(isinstance(law, ListOD) for law in found.told)
    assert not any(isinstance(law, ListOD) for law in found.checked)


def test_rows_that_have_become_too_many_are_forgotten(monkeypatch) -> None:
    monkeypatch.setattr(deciding_rows, "_SAMPLED_ROWS", 5)
    rows = deciding([(n, 0, 0, 0) for n in range(21)])
    assert rows.without([20]).table.num_rows == 20
    assert rows.without([]).table.num_rows == 5
    assert rows.without([]).room() == 0
    assert rows.without(range(3, 21)).room() == 2

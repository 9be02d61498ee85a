"""A spread state and a state of one process tell the same of the same batches."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, NamedLaw, columns_of
from lawful.maintenance.spread import memory
from lawful.runs.maintain import OpenState
from maintenance.changing_tables import Row, arrow_of, changes, names_of, rows_in, taken
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.api import OpenSpreadState
    from lawful.results.batch_report import BatchReport

NOT_THERE: Row = (9,) * WIDTH


def told(report: BatchReport) -> dict[str, Any]:
    """What both say of a batch, but for which two rows of those that break a law they show."""
    document = report.to_dict()
    pins = [{name: value for name, value in pin.items() if name != "witness"} for pin in document["pins"]]
    return {name: document[name] for name in ("batch", "version", "rows", "inserted", "deleted")} | {"pins": pins}


def witnesses_break_their_laws(report: BatchReport, laws: list[Law], policy: NullPolicy) -> None:
    for law, pin in zip(laws, report.pins, strict=True):
        if pin.witness is not None and all(f"c{column}" in pin.witness[0].values for column in columns_of(law)):
            shown = [[view.values.get(name) for name in names_of(WIDTH)] for view in pin.witness]
            rows = [tuple(None if text is None else int(text) for text in row) for row in shown]
            assert breaks(law, policy, rows), pin.text


def remembered(state: OpenState | OpenSpreadState) -> list[Any]:
    """All that happened, but for when, and which of the rows that did it are shown."""
    events = [
        {**event, "time": "", "reason": "", "rows": event["rows"] if event["event"] == "aside" else []}
        for event in state.events()
    ]
    entries = [{**entry, "time": ""} for entry in state.changes]
    return [events, entries, [life.to_dict() for life in state.history()]]


def both(
    folder: Path, spark: SparkSession, first: list[Row], policy: NullPolicy, laws: list[Law]
) -> tuple[OpenState | OpenSpreadState, OpenState | OpenSpreadState]:
    table, pins = arrow_of(first, WIDTH), [NamedLaw(law, tuple(names_of(WIDTH))) for law in laws]
    asked: dict[str, Any] = {"only_pinned": True, "pins": pins, "null": policy.value}
    spread = lawful.SparkSettings(session=spark, placement="shuffle")
    return (
        lawful.make_state(folder / "one", table, **asked, engine="local"),
        lawful.make_state(folder / "spread", spark.createDataFrame(table), **asked, spark=spread),
    )


def states_tell_the_same(
    spark: SparkSession,
    first: list[Row],
    batches: list[tuple[list[Row], float]],
    policy: NullPolicy,
    laws: list[Law],
    *,
    puts_aside: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(memory, "MOST_CHANGES", 1):
        one, spread = both(Path(folder), spark, first, policy, laws)
        aside = [Path(folder) / f"aside {number}" if puts_aside else None for number in range(2)]
        with one, spread:
            assert told(spread.as_it_is()) == told(one.as_it_is())
            for number, (come, share) in enumerate(batches):
                assert isinstance(one, OpenState)
                batch: dict[str, Any] = {
                    "inserts": arrow_of(come, WIDTH),
                    "deletes": arrow_of([*taken(rows_in(one._state), share), NOT_THERE], WIDTH),
                    "missing": "skip",
                    "batch_id": f"batch {number}",
                }
                expected, found = one.apply(**batch, quarantine=aside[0]), spread.apply(**batch, quarantine=aside[1])
                assert told(found) == told(expected)
                assert (found.missing, found.rows) == (1, len(rows_in(one._state)))
                witnesses_break_their_laws(found, laws, policy)
                witnesses_break_their_laws(expected, laws, policy)
            assert remembered(spread) == remembered(one)
            again = spread.apply(arrow_of(first, WIDTH), batch_id="batch 0")
            assert again.was_known
            assert told(again)["pins"] == told(one.as_it_is())["pins"]


@given(data=st.data(), policy=POLICIES, puts_aside=st.booleans())
@one_in(6)
def test_states_tell_the_same_of_any_batches(
    spark: SparkSession, data: st.DataObject, policy: NullPolicy, puts_aside: bool
) -> None:
    first, batches = data.draw(changes(WIDTH, most=6))
    laws = fitting([data.draw(family) for family in LAWS], policy)
    states_tell_the_same(spark, first, batches[:1], policy, laws, puts_aside=puts_aside)


@pytest.mark.slow
@given(data=st.data(), policy=POLICIES, puts_aside=st.booleans())
@one_in(2)
def test_states_tell_the_same_of_many_batches(
    spark: SparkSession, data: st.DataObject, policy: NullPolicy, puts_aside: bool
) -> None:
    first, batches = data.draw(changes(WIDTH, most=10))
    laws = fitting([data.draw(family) for family in LAWS], policy)
    states_tell_the_same(spark, first, batches, policy, laws, puts_aside=puts_aside)

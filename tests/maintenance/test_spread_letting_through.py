"""Which rows of a batch are let into a spread table: as brute force says, row by row."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law
from lawful.discovery.questions import Watch
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.met_rows import Cells, MetRow
from lawful.maintenance.pins.outcomes import PutAside
from lawful.maintenance.spread.keeping import kept_laws
from lawful.maintenance.spread.letting_through import judge_of, put_aside, ranged_judge
from maintenance.changing_tables import Row, rows_of
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting


def texts(row: Row, columns: tuple[int, ...]) -> Cells:
    return tuple(None if row[column] is None else str(row[column]) for column in columns)


def met(kept: KeptLaw, staying: list[Row], policy: NullPolicy) -> dict[Cells, list[MetRow]]:
    """What the index tells of the rows that stay."""
    found: dict[Cells, list[MetRow]] = {}
    for number, row in enumerate(staying):
        if policy is NullPolicy.IGNORE and None in texts(row, kept.judged):
            continue
        found.setdefault(texts(row, kept.group), []).append(MetRow(texts(row, kept.others), number))
    if kept.shape == "classes":
        return found
    by_rest = {
        key: sorted(rows, key=lambda row: [(cell is not None, cell or "") for cell in row.rest])
        for key, rows in found.items()
    }
    return {key: [rows[0], rows[-1]] for key, rows in by_rest.items()}


def partners(law: Law, policy: NullPolicy, staying: list[Row], come: list[Row]) -> dict[int, int]:
    """What the buckets tell of the rows that come: one that stays and breaks the law with each."""
    pairs = [
        (n, m) for n, row in enumerate(come) for m, other in enumerate(staying) if breaks(law, policy, [other, row])
    ]
    return dict(reversed(pairs))


def by_brute_force(laws: list[Law], policy: NullPolicy, staying: list[Row], come: list[Row]) -> list[tuple[int, int]]:
    """The rows that are put aside, each with the first law that it breaks."""
    inside, aside = list(staying), []
    for number, row in enumerate(come):
        pins = [pin for pin, law in enumerate(laws) if any(breaks(law, policy, [other, row]) for other in inside)]
        if pins:
            aside.append((number, pins[0]))
        else:
            inside.append(row)
    return aside


@given(data=st.data(), policy=POLICIES, staying=rows_of(WIDTH, 6), come=rows_of(WIDTH, 6))
def test_rows_that_break_a_law_with_one_that_is_in_are_put_aside(
    data: st.DataObject, policy: NullPolicy, staying: list[Row], come: list[Row]
) -> None:
    laws = fitting([data.draw(family) for family in LAWS], policy)
    table = pa.table({f"c{n}": pa.array([texts(row, (n,))[0] for row in come], pa.string()) for n in range(WIDTH)})
    types = [ColumnType.INTEGER] * WIDTH
    kept = kept_laws(laws)
    judges = [
        ranged_judge(each, table, partners(each.law, policy, staying, come), types, policy)
        if each.shape == "ranges"
        else judge_of(each, table, met(each, staying, policy), types, policy)
        for each in kept
    ]
    found = put_aside(judges, len(come), Watch())
    assert [(each.row, each.pin) for each in found] == by_brute_force(laws, policy, staying, come)
    for each in found:
        other = staying[each.partner] if each.partner >= 0 else come[each.new_partner]
        assert breaks(laws[each.pin], policy, [other, come[each.row]]), each
        assert is_told_once(each)


def is_told_once(aside: PutAside) -> bool:
    return (aside.partner < 0) != (aside.new_partner < 0)

"""Who is to blame: laws on tiny made-up opinions, where the right answer is plain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import Opinion
from lawful.dependencies import FD, CanonicalOD, Key
from lawful.repairs.blame import Hearing, Judge, Suspicion, entities_among, reverse_law, with_suggestion
from lawful.repairs.columns import ColumnFacts, HeldValues

ZIP, CITY, STATE, AREA, NAME, PHONE = range(6)
WIDTH = 6


def opinion(weight: float, suggested: int = 2, rival: int = 20) -> Opinion:
    return Opinion(
        np.zeros(1, np.int32),
        np.array([weight]),
        np.array([rival], np.int32),
        np.array([rival], np.int32),
        np.array([suggested], np.int32),
        1_000,
        10,
    )


def blamed(
    weights: Mapping[VotingLaw, float], least: float = 0.5, entities: list[int] | None = None
) -> list[Suspicion]:
    """The cells of one row that are blamed, if laws think so of it; all values are equally frequent."""
    laws, opinions = list(weights), [opinion(weight) for weight in weights.values()]
    facts = ColumnFacts(HeldValues([np.full(4, 100, np.int64)] * WIDTH, lambda column, rank: f"{column}-{rank}"))
    hearing = Hearing.of(np.zeros(1, np.int32), opinions, np.ones((WIDTH, 1), np.int32))
    return list(Judge(laws, opinions, entities or list(range(WIDTH)), facts, least).settle(hearing, 0))


def test_a_wrong_right_side_fails_with_every_left_side() -> None:
    found = blamed({FD((ZIP,), CITY): -5.0, FD((PHONE,), CITY): -5.0, FD((ZIP,), STATE): 2.0, FD((PHONE,), NAME): 2.0})
    assert [(each.column, each.suggested) for each in found] == [(CITY, 2)]
    assert set(found[0].laws) == {FD((ZIP,), CITY), FD((PHONE,), CITY)}


def test_a_wrong_left_side_fails_with_every_right_side() -> None:
    found = blamed({FD((ZIP,), CITY): -5.0, FD((ZIP,), STATE): -5.0, FD((AREA,), STATE): 3.0, FD((PHONE,), CITY): 3.0})
    assert [(each.column, each.suggested) for each in found] == [(ZIP, None)]


def test_one_law_alone_names_its_right_side_at_most() -> None:
    assert [each.column for each in blamed({FD((ZIP,), CITY): -5.3})] == [CITY]
    assert blamed({FD((ZIP,), CITY): -2.0}) == []
    assert blamed({FD((ZIP,), CITY): 5.0}) == []


def test_two_cells_of_a_row_may_be_wrong() -> None:
    found = blamed(
        {FD((ZIP,), CITY): -5.0, FD((PHONE,), CITY): -5.0, FD((AREA,), NAME): -5.0, FD((PHONE,), NAME): -5.0}
    )
    assert {each.column for each in found} == {CITY, NAME}


def test_twins_do_not_outvote_others() -> None:
    """Ten laws that say the same count as two."""
    alone = blamed({FD((ZIP,), CITY): -2.4})
    assert alone == []
    twins = {FD((ZIP,), CITY): -2.0, FD((PHONE,), CITY): -2.0, FD((NAME,), CITY): -2.0}
    apart = blamed(twins, least=0.1)[0].probability
    together = blamed(twins, least=0.1, entities=[0, 1, 2, 3, 0, 0])[0].probability
    assert together < apart


@pytest.mark.parametrize(("rivals", "others", "suggested"), [(3, 5, 7), (1, 1, None), (2, 4, None), (2, 3, 7)])
def test_what_most_rows_with_the_same_right_sides_have(rivals: int, others: int, suggested: int | None) -> None:
    suspicion = Suspicion(0, ZIP, None, 0.9, (FD((ZIP,), STATE), FD((ZIP,), CITY), FD((ZIP, AREA), CITY)))
    assert reverse_law(suspicion) == FD((CITY, STATE), ZIP)
    counts = (np.array([count], np.int32) for count in (others, rivals, 7))
    asked = Opinion(np.zeros(1, np.int32), np.zeros(1), *counts, 10, 1)
    assert with_suggestion(suspicion, 0, asked).suggested == suggested
    assert reverse_law(Suspicion(0, CITY, 3, 0.9, (FD((ZIP,), CITY),))) is None


def test_columns_that_determine_each_other() -> None:
    strengths = {FD((0,), 2): 0.9, FD((2,), 0): 0.85, FD((0,), 1): 0.99, FD((1,), 0): 0.5}
    assert entities_among(4, strengths) == [0, 1, 0, 3]


def test_orders_name_the_column_that_they_share() -> None:
    by_zip, by_area = CanonicalOD((), ZIP, PHONE, "asc"), CanonicalOD((), AREA, PHONE, "asc")
    found = blamed({by_zip: -5.0, by_area: -5.0, FD((CITY,), ZIP): 2.0})
    assert [(each.column, each.suggested, set(each.laws)) for each in found] == [(PHONE, None, {by_zip, by_area})]
    assert blamed({by_zip: -5.0}) == []


def test_a_key_that_repeats_adds_to_what_others_say() -> None:
    said: dict[VotingLaw, float] = {FD((ZIP,), PHONE): -4.0}
    without, with_it = blamed(said, least=0.1), blamed(said | {Key((PHONE,)): -0.69}, least=0.1)
    assert [each.column for each in with_it] == [PHONE]
    assert with_it[0].probability > without[0].probability
    assert blamed({Key((PHONE,)): -0.69}) == []

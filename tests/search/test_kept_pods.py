"""What follows from pointwise order dependencies, and what breaks them, is what the definitions say."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pod_oracle
from hypothesis import given
from hypothesis import strategies as st

from lawful.dependencies import POD
from lawful.evidence.signs import SignVectors
from lawful.search.pods.kept_left_sides import broken_by, following, pack_left_side, touched_by, with_weaker
from lawful.search.pods.left_sides import Goal, goals_of, literal_words, pointwise_laws

WIDTH = 3
LAWS = [law for law in pod_oracle.candidates(WIDTH) if pod_oracle.is_told(law)]


def as_pod(law: pod_oracle.Pointwise) -> POD:
    return POD(*law)  # type: ignore[arg-type]  # operators are drawn as texts


def packed(laws: list[pod_oracle.Pointwise]) -> dict[Goal, np.ndarray]:
    nothing = np.empty((0, literal_words(WIDTH)), np.uint64)
    return {
        goal: np.concatenate([nothing, *(pack_left_side(as_pod(law), WIDTH) for law in laws if law[1] == goal)])
        for goal in goals_of(WIDTH)
    }


def test_packed_left_sides_are_those_of_the_laws() -> None:
    for law in LAWS:
        # Operators are drawn as texts.
        assert next(pointwise_laws(Goal(*law[1]), pack_left_side(as_pod(law), WIDTH))) == as_pod(law)  # type: ignore[arg-type]


@given(premises=st.lists(st.sampled_from(LAWS), max_size=3, unique=True))
def test_what_follows(premises: list[pod_oracle.Pointwise]) -> None:
    images = [image for law in premises for image in (law, pod_oracle.turned(law))]
    laws = packed(premises)
    for law in islice(LAWS, 0, None, 3):
        # Operators are drawn as texts.
        follows = following(Goal(*law[1]), pack_left_side(as_pod(law), WIDTH), laws)  # type: ignore[arg-type]
        assert follows.tolist() == [any(pod_oracle.follows(law, image) for image in images)]


@given(
    laws=st.lists(st.sampled_from(LAWS), max_size=4, unique=True),
    pairs=st.lists(st.tuples(*[st.sampled_from([-1, 0, 1, None])] * WIDTH), min_size=1, max_size=4),
    times=st.sampled_from([1, 17, 64]),
)
def test_what_breaks(laws: list[pod_oracle.Pointwise], pairs: list[tuple[int | None, ...]], times: int) -> None:
    """Signs are those of rows against a row of zeros; null makes them unknown."""
    pairs = pairs * times
    less, greater = (
        np.array([[sum(1 << n for n, each in enumerate(pair) if each in (sign, None))] for pair in pairs], np.uint64)
        for sign in (-1, 1)
    )
    zero = (0,) * WIDTH
    breaking = [
        {
            Goal(*law[1])  # type: ignore[arg-type]  # operators are drawn as texts
            for law in laws
            if pod_oracle.violates(law, pair, zero, "ignore") or pod_oracle.violates(law, zero, pair, "ignore")
        }
        for pair in pairs
    ]
    signs = SignVectors(less, greater)
    broken = broken_by(signs, packed(laws), WIDTH)
    assert broken.refutes.tolist() == [bool(goals) for goals in breaking]
    assert broken.goals == set().union(*breaking)
    assert with_weaker(broken.goals) <= touched_by(signs, WIDTH)

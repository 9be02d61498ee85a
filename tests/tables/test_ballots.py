"""Writers that agree by ballots: whatever their steps look like together, and whoever dies, one proposal is decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import SourceError
from lawful.tables.spread.ballots import Listing, Pause, Write, agreement, claim_of

Files = frozenset[str]


@dataclass(frozen=True)
class Writer:
    """What a writer was told so far, how far it is with a listing, and what it has decided.

    A listing is no picture of one moment: one half of the files is listed before the other.
    """

    token: str
    told: tuple[Files | None, ...] = ()
    half: Files | None = None
    decided: str | None = None
    is_over: bool = False


@dataclass(frozen=True)
class Together:
    files: Files
    writers: tuple[Writer, ...]

    @property
    def decided(self) -> set[str]:
        return {writer.decided for writer in self.writers if writer.decided is not None}


def next_step(writer: Writer, attempts: int) -> Write | Listing | Pause | str | None:
    """What a writer does after what it was told: a step, or what it decides, or None if it gives up."""
    steps = agreement(writer.token, f"proposal of {writer.token}", attempts)
    try:
        step = next(steps)
        for told in writer.told:
            step = steps.send(told)
    except StopIteration as end:
        return str(end.value)
    except SourceError:
        return None
    return step


def moved(state: Together, number: int, attempts: int, first: str) -> Together:
    """The state after one writer has done the next thing; `first` are the files that its listings show first."""
    writer, files = state.writers[number], state.files
    step = next_step(writer, attempts)
    match step:
        case Write(name, _):
            files |= {name}
            writer = replace(writer, told=(*writer.told, None))
        case Pause():
            writer = replace(writer, told=(*writer.told, None))
        case Listing():
            if writer.half is None:
                writer = replace(writer, half=frozenset(name for name in files if first in name))
            else:
                shown = writer.half | {name for name in files if first not in name}
                writer = replace(writer, told=(*writer.told, shown), half=None)
        case _:
            writer = replace(writer, decided=step, is_over=True)
    return Together(files, (*state.writers[:number], writer, *state.writers[number + 1 :]))


def all_states(writers: str, attempts: int, first: str) -> Iterator[Together]:
    """Every state that writers can come to; one that dies is one that does nothing more, so that is among them."""
    begin = Together(frozenset(), tuple(map(Writer, writers)))
    seen, waiting = {begin}, [begin]
    while waiting:
        state = waiting.pop()
        yield state
        for number, writer in enumerate(state.writers):
            if not writer.is_over:
                after = moved(state, number, attempts, first)
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)


def alone(state: Together, first: str) -> str | None:
    """What another writer decides if all others have died."""
    state = Together(state.files, (*state.writers, Writer("z")))
    while not state.writers[-1].is_over:
        state = moved(state, len(state.writers) - 1, 3, first)
    return state.writers[-1].decided


def never_disagree(writers: str, attempts: int, first: str) -> int:
    states, outcomes, survivors = 0, set(), {}
    for state in all_states(writers, attempts, first):
        states += 1
        decided = state.decided
        assert len(decided) <= 1, state
        outcomes |= decided
        if state.files not in survivors:
            survivors[state.files] = alone(state, first)
        assert survivors[state.files] is not None, state  # nobody who has died is in the way
        assert decided <= {survivors[state.files]}, state
        for token in decided:
            assert claim_of(token, state.files).endswith(f"-{token}-claim")
    assert outcomes == set(writers)
    return states


@pytest.mark.parametrize("first", ["-claim", "-accept-"])
def test_two_writers_never_disagree(first: str) -> None:
    assert never_disagree("ab", 2, first) > 500


@pytest.mark.slow
@pytest.mark.parametrize("first", ["-claim", "-accept-"])
@pytest.mark.parametrize(("writers", "attempts"), [("ab", 3), ("abc", 1)])
def test_more_writers_and_attempts_never_disagree(writers: str, attempts: int, first: str) -> None:
    assert never_disagree(writers, attempts, first) > 500


@given(schedule=st.lists(st.integers(0, 2), max_size=90), first=st.sampled_from(["-claim", "-accept-"]))
def test_three_writers_that_begin_again_never_disagree(schedule: list[int], first: str) -> None:
    state = Together(frozenset(), tuple(map(Writer, "abc")))
    for number in schedule:
        if not state.writers[number].is_over:
            state = moved(state, number, 4, first)
    assert state.decided <= {alone(state, first)}


def test_a_writer_that_is_outbid_again_and_again_gives_up() -> None:
    steps = agreement("a", "", 2)
    assert next(steps) == Write(f"{1:010d}-a-claim", "")
    assert steps.send(None) == Listing()
    assert steps.send([f"{1:010d}-a-claim", f"{3:010d}-b-claim"]) == Pause(0)
    assert steps.send(None) == Write(f"{4:010d}-a-claim", "")
    assert steps.send(None) == Listing()
    assert steps.send([f"{4:010d}-a-claim", f"{4:010d}-b-accept-b"]) == Pause(1)
    with pytest.raises(SourceError, match="again and again"):
        steps.send(None)

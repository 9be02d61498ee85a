"""Agreement of writers on one of their proposals, by files that are written once and listed: no clocks, no locks.

This is Disk Paxos with one disk that does not fail. A writer has a ballot: a round and its own token, which nobody else
has. Ballots are ordered. It does four things, each a file or a listing of all files:

1. It writes a *claim* of its ballot, with its proposal in it.
2. It lists. If there is anything of a higher ballot, it begins again with one that is higher still. Otherwise it takes
   the proposal that was accepted with the highest ballot below its own, or its own if none was accepted.
3. It *accepts* that proposal: a file with the ballot and the token of the proposal's writer.
4. It lists. If there is nothing of a higher ballot, the proposal is *decided*. Otherwise it begins again.

All that is asked of the store: a listing shows every file whose writing had ended before the listing began. It need not
be a picture of one moment.

**Only one proposal is decided.** Let p be decided with ballot b. Then every proposal that is accepted with a ballot
b' > b is p. Take the least such b' with another one. Its claim was not in the listing of step 4 for b, so its writing
had not ended when that listing began, and the acceptance of p was there by then. The listing of step 2 for b' began
after the claim was written, so it shows that acceptance. Its writer took the proposal of the highest accepted ballot
below b', which is b or lies between b and b', and so is p. A ballot accepts once, so nothing else is decided.

**Nobody who has died is in the way.** A writer that is alone from now on sees all claims, takes a higher ballot, and
decides: what somebody may have decided before, or its own. Writers that are at it at the same time can make each other
begin again; they pause for times that differ, and so one gets through.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
from typing import Any, NamedTuple

from lawful.common.errors import SourceError

_CLAIM = re.compile(r"^(\d{10})-([0-9a-z]+)-claim$")
_ACCEPT = re.compile(r"^(\d{10})-([0-9a-z]+)-accept-([0-9a-z]+)$")

Ballot = tuple[int, str]
"""A round, and the token of a writer."""


class Write(NamedTuple):
    """Write a file."""

    name: str
    text: str


class Listing(NamedTuple):
    """List the names of all files."""


class Pause(NamedTuple):
    """Wait a little, longer each time and for a time that is one's own."""

    times: int


Steps = Generator[Write | Listing | Pause, Any, str]


def agreement(token: str, proposal: str, attempts: int) -> Steps:
    """What a writer does, step by step; returns the token of the writer whose proposal is decided.

    Raises
    ------
    SourceError
        After so many attempts. Its proposal may be decided by others nevertheless.
    """
    ballot = (1, token)
    for attempt in range(attempts):
        yield Write(_claim(ballot), proposal)
        names = yield Listing()
        if not _is_outbid(ballot, names):
            chosen = max(_accepted(names), default=(ballot, token))[1]
            yield Write(_accept(ballot, chosen), "")
            names = yield Listing()
            if not _is_outbid(ballot, names):
                return chosen
        yield Pause(attempt)
        ballot = (1 + max(round_ for round_, _ in _ballots(names)), token)
    raise SourceError(
        "other processes change the state at the same time, again and again",
        "Open it again: its history tells whether the batch happened. If not, apply it again.",
    )


def claim_of(token: str, names: Collection[str]) -> str:
    """The name of a file with the proposal of a writer."""
    return _claim(min(ballot for ballot in _claims(names) if ballot[1] == token))


def _claim(ballot: Ballot) -> str:
    return f"{ballot[0]:010d}-{ballot[1]}-claim"


def _accept(ballot: Ballot, chosen: str) -> str:
    return f"{ballot[0]:010d}-{ballot[1]}-accept-{chosen}"


def _claims(names: Collection[str]) -> list[Ballot]:
    return [(int(found[1]), found[2]) for name in names if (found := _CLAIM.match(name))]


def _accepted(names: Collection[str]) -> list[tuple[Ballot, str]]:
    return [((int(found[1]), found[2]), found[3]) for name in names if (found := _ACCEPT.match(name))]


def _ballots(names: Collection[str]) -> list[Ballot]:
    """All that are known: a listing that is no picture of one moment may show what was accepted and not its claim."""
    return [*_claims(names), *(ballot for ballot, _ in _accepted(names))]


def _is_outbid(ballot: Ballot, names: Collection[str]) -> bool:
    return any(other > ballot for other in _ballots(names))

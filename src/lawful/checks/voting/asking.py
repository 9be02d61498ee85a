"""Asking an almost-law of any kind that votes what it thinks of rows."""

from __future__ import annotations

from lawful.checks.voting.key_opinions import key_opinion
from lawful.checks.voting.opinions import Opinion, fd_opinion
from lawful.checks.voting.order_opinions import order_opinion
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Ints
from lawful.dependencies import FD, CanonicalOD, Key

VotingLaw = FD | CanonicalOD | Key
"""The kinds of laws that have an opinion of single rows."""


def opinion_of(law: VotingLaw, workspace: Workspace, rows: Ints | None = None) -> Opinion:
    """Give what a law thinks of some rows; without any, of those that it finds something wrong with."""
    match law:
        case FD():
            return fd_opinion(law, workspace, rows)
        case CanonicalOD():
            return order_opinion(law, workspace, rows)
        case Key():
            return key_opinion(law, workspace, rows)

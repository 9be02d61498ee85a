"""Which micro-batch of which streaming query a state has seen last, and what may come next.

A query numbers its micro-batches from 0 and gives one again if it does not know whether it was done. The state notes
the query and the number in the same rename that makes a batch happen, so the two cannot disagree without being seen.
The number alone would not do: a checkpoint that was restored from an old copy plans the same numbers anew, with other
rows. So the state also notes a digest of the plan, which a query writes down before a batch and never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lawful.common.errors import UsageError

_NEW = "with --new-query, what it brings is taken as new rows"


@dataclass(frozen=True)
class StreamPlace:
    """A micro-batch: the id of its query, its number there, and a digest of what it was planned to hold, if known."""

    query: str
    batch: int
    plan: str | None = None

    @property
    def id(self) -> str:
        """What tells the batch apart from all others."""
        return f"{self.query}/{self.batch}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"query": self.query, "batch": self.batch, "plan": self.plan}

    @staticmethod
    def of(document: Mapping[str, Any] | None) -> StreamPlace | None:
        """Read what `to_dict` wrote."""
        if document is None:
            return None
        plan = document["plan"]
        return StreamPlace(str(document["query"]), int(document["batch"]), None if plan is None else str(plan))


def is_replay(
    last: StreamPlace | None,
    now: StreamPlace,
    earlier: Callable[[StreamPlace], StreamPlace | None],
    *,
    new_query: bool = False,
) -> bool:
    """Whether a micro-batch was applied before; if not, it is the next one.

    Parameters
    ----------
    last, now
        The micro-batch that the state has seen last, and the one that comes.
    earlier
        Finds an older micro-batch with the same query and number in the history.
    new_query
        Whether a query that the state does not know may begin.

    Raises
    ------
    UsageError
        If it is neither: says what is missing or exchanged, and what to do.
    """
    if last is None or (last.query != now.query and new_query):
        if now.batch == 0:
            return False
        raise UsageError(
            f"the query goes on at batch {now.batch}, and the state has seen none of it",
            "Nothing was changed. Restore the state that belongs to this checkpoint; or remove the checkpoint, and "
            "the source is read from its start.",
        )
    if last.query != now.query:
        raise UsageError(
            f"the state has seen batch {last.batch} of query {last.query}, and this is batch {now.batch} of query "
            f"{now.query}",
            "Nothing was changed. Go on with the checkpoint that belongs to this state. If that is lost: make the "
            f"state anew, or go on with this query: {_NEW}.",
        )
    if now.batch == last.batch + 1:
        return False
    if now.batch > last.batch:
        raise UsageError(
            f"batches {last.batch + 1} to {now.batch - 1} of the query are missing from the state",
            "Nothing was changed. The state is older than the checkpoint: restore a copy of the checkpoint that is "
            "not, or make both anew.",
        )
    seen = last if now.batch == last.batch else earlier(now)
    if seen is None or (now.plan is not None and seen.plan is not None and now.plan != seen.plan):
        raise UsageError(
            f"batch {now.batch} of the query is not the one that the state has seen, which is at batch {last.batch}",
            "Nothing was changed. The checkpoint is older than the state: restore the one that belongs to it. If that "
            f"is lost, make the state anew, or remove the checkpoint too: {_NEW}.",
        )
    return True

"""Whether the FDs of a result are all that there are, so that theory can say what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.common.errors import UsageError


def refuse_some_fds(what: str, settings: Mapping[str, Any], width: int, stopped: str | None) -> None:
    """Refuse to tell what follows where FDs are missing, or do not follow the rules that theory takes for granted.

    `settings` are those of the discovery, `width` is how many columns the table has, and `stopped` why the search for
    FDs ended early, if it did.
    """
    largest = settings.get("max_size")
    reasons = {
        "functional dependencies were not asked for": not {"fd", "canonical-od"} & set(settings.get("find") or ()),
        f"the discovery is incomplete: {stopped}": stopped is not None,
        "FDs are not transitive where nulls are ignored": settings.get("null") != "equal",
        "FDs that hold only within an error are not transitive": bool(settings.get("error")),
        "less interesting laws were left out": bool(settings.get("min_interest")),
        f"left sides larger than {largest} were left out": largest is not None and largest < width - 1,
    }
    for reason, applies in reasons.items():
        if applies:
            raise UsageError(
                f"{what} cannot be told: {reason}",
                "Discover all FDs that hold, under null equal and without limits.",
            )

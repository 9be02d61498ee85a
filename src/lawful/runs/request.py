"""What a user asks of a discovery, checked before any work is done, and put to each family as its own question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.common.arguments import of_kind, texts, unknown_argument
from lawful.common.errors import UsageError
from lawful.common.meanings import Measure, NullPolicy
from lawful.common.sizes import size_in_bytes
from lawful.discovery import own_families as own_families  # which registers them
from lawful.discovery.families import FamilySearch, Option, discoverable, families, family_named, options

COMMON_OPTIONS = (
    Option("find", "key,fd", "All laws of these kinds, separated by commas: {kinds}.", "KIND,KIND"),
    Option(
        "max_size",
        None,
        "The most columns of a key, a left side, a context or either list; the most predicates of a dc.",
        "N",
        type=int,
    ),
    Option("error", 0.0, "The share that may break a law, below 1.", "X"),
    Option(
        "measure",
        None,
        "What --error is a share of: g3, the rows; g1, the pairs of rows.  [default: g3, or g1 with pod or dc]",
        "g1|g3",
        type=str,
    ),
    Option("min_interest", 0.0, "Leave out laws of less interest, from 0 to 1.", "X"),
    Option("time_limit", None, "Stop after so many seconds, with what is certain.", "S", type=float),
    Option("memory_limit", None, "Stop before this process uses more memory, with what is certain.", "SIZE", type=str),
    Option("seed", 0, "Where random numbers start; every seed gives the same laws.", "N"),
    Option("strategy", "auto", "How to search: {strategies}; auto takes what is quicker.", "NAME"),
    Option(
        "checkpoint",
        None,
        "Keep every verdict in this file, so that a run that was cut off can go on.",
        "FILE",
        type=Path,
    ),
    Option("resume", False, "Go on from the --checkpoint of a run that was cut off."),
)
"""What every family can be asked for; the same in Python and on the command line."""


@dataclass(frozen=True)
class Request:
    """What a user asks of a discovery.

    Parameters
    ----------
    find
        The families of laws.
    max_size
        The most columns of a key, of a left side, of a context and of each of two lists, and the most predicates of
        a DC.
    error, measure
        The share of pairs (g1) or rows (g3) that may break a law; 0 asks for laws that hold, and then the measure
        does not matter.
    min_interest
        Leave out laws of less interest; the result then says so, as it does of a largest size.
    time_limit
        Seconds after which to stop with what is certain.
    memory_limit
        Bytes that this process may use.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        How to search, for the families that know this way; the others choose for themselves.
    checkpoint, resume
        Where verdicts are kept, and whether to go on from there.
    given
        What only some families can be asked for, by name, where it is not the default.
    """

    find: tuple[str, ...] = ("key", "fd")
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g3"
    min_interest: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    seed: int = 0
    strategy: str = "auto"
    checkpoint: Path | None = None
    resume: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._refuse_unknown_families()
        if not 0.0 <= self.min_interest <= 1.0:
            raise UsageError(f"the least interest must lie in [0, 1], and is {self.min_interest}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"the time limit must be positive, and is {self.time_limit:g}", "Leave it out for none.")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, and is {self.seed}")
        if self.resume and self.checkpoint is None:
            raise UsageError("nothing to resume from", "Say where the checkpoint is.")
        self._refuse_unknown_options()
        self._refuse_unknown_strategy()
        for search in self.searches():
            search.question(self, NullPolicy.EQUAL)  # refuses what it cannot mean
            if self.error and self.measure not in search.measures:
                raise UsageError(*search.unmeasured)
        if self.error and self.strategy != "auto":
            raise UsageError("a strategy can be chosen only for laws that hold", "Drop --strategy or --error.")

    @property
    def options(self) -> Mapping[str, Any]:
        """All that only some families can be asked for, as given or by default."""
        return {name: self.given.get(name, option.default) for name, (option, _) in options().items()}

    def strategy_for(self, strategies: Sequence[str]) -> Any:
        """The strategy that is asked for if it is one of these, else `auto`."""
        return self.strategy if self.strategy in strategies else "auto"

    def searches(self) -> list[FamilySearch]:
        """The searches for the families that are asked for, in the order of the families."""
        wanted = [family.search for family in families() if family.name in self.find and family.search is not None]
        return [search for place, search in enumerate(wanted) if search not in wanted[:place]]

    def settings(self) -> dict[str, Any]:
        """All that changes the answer, and how it is searched for, as plain JSON values."""
        settings: dict[str, Any] = {
            "find": list(self.find),
            "max_size": self.max_size,
            "error": self.error,
            "measure": self.measure if self.error else None,
            "min_interest": self.min_interest,
            "seed": self.seed,
        }
        for name in self.find:
            search = family_named(name).search
            assert search is not None
            own = {option.name: _plain(self.options[option.name]) for option in search.options if not option.hidden}
            own |= search.settings(search.question(self, NullPolicy.EQUAL))
            if own:
                settings[name.replace("-", "_")] = own
        return settings

    def _refuse_unknown_families(self) -> None:
        for name in self.find:
            if family_named(name).search is None:
                raise UsageError(
                    f"laws of the kind {name} cannot be discovered yet", f"Kinds: {', '.join(discoverable())}."
                )
        if not self.find:
            raise UsageError("no kind of law is asked for", f"Kinds: {', '.join(discoverable())}.")

    def _refuse_unknown_options(self) -> None:
        known = options()
        for name, value in self.given.items():
            if name not in known:
                raise unknown_argument(name, value, "discover", [*(option.name for option in COMMON_OPTIONS), *known])
            option, of_families = known[name]
            if value != option.default and not set(of_families) & set(self.find):
                kinds = " and ".join(of_families)
                raise UsageError(
                    f"{flag_of(name)} is for {kinds} only, which is not asked for",
                    f"Add {of_families[0]} to --find, or drop {flag_of(name)}.",
                )

    def _refuse_unknown_strategy(self) -> None:
        known = list(dict.fromkeys(name for search in self.searches() for name in search.strategies))
        if self.strategy not in ("auto", *known):
            everywhere = {name for family in families() if family.search for name in family.search.strategies}
            what = "no strategy for these laws" if self.strategy in everywhere else "an unknown strategy"
            raise UsageError(f"{self.strategy!r} is {what}", f"Use {', '.join(['auto', *known])}.")


def request_of(asked: Mapping[str, Any]) -> Request:
    """Read what is asked for by the names of the options, as Python and the command line give it."""
    values = {option.name: _value(option, asked.get(option.name, option.default)) for option in COMMON_OPTIONS}
    checkpoint = values["checkpoint"]
    find = families_of(values["find"])
    own = {option.name: option for option, _ in options().values()}
    given = {name: value for name, value in asked.items() if name not in values and value is not None}
    return Request(
        **values
        | {
            "find": find,
            "measure": values["measure"] or default_measure(find),
            "memory_limit": size_in_bytes(values["memory_limit"]),
            "checkpoint": None if checkpoint is None else Path(checkpoint),
            "given": {name: _value(own[name], value) if name in own else value for name, value in given.items()},
        }
    )


def default_measure(find: Iterable[str]) -> Measure:
    """What an error is a share of if nobody says: of the rows, unless some family knows only pairs."""
    searches = [family.search for family in families() if family.name in find and family.search is not None]
    return "g1" if any(search.measures == ("g1",) for search in searches) else "g3"


def _value(option: Option, value: Any) -> Any:
    """The value of an option, refused where it is of the wrong kind."""
    if value is None and option.default is None:
        return None
    if option.name == "memory_limit":
        return of_kind(option.name, value, str if isinstance(value, str) else int)
    return of_kind(option.name, value, option.type or type(option.default)) if option.name != "find" else value


def _plain(value: Any) -> Any:
    """An option's value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def flag_of(name: str) -> str:
    """What the command line calls an option."""
    return f"--{name.replace('_', '-')}"


def families_of(find: str | Iterable[str]) -> tuple[str, ...]:
    """Read the families to find: several names, or one text with commas between them."""
    names = find.split(",") if isinstance(find, str) else texts("find", find)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def strategies_in_words() -> str:
    """Which families know which strategies, for the help."""
    known: dict[tuple[str, ...], list[str]] = {}
    for family in families():
        if family.search is not None and family.search.strategies:
            known.setdefault(family.search.strategies, []).append(family.name)
    return "; ".join(f"{', '.join(names)}: {', '.join(strategies)}" for strategies, names in known.items())

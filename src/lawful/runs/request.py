"""What a user asks of a discovery, checked before any work is done, and put to each family as its own question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lawful.common.errors import UsageError
from lawful.common.meanings import Measure, NullPolicy
from lawful.dependencies import Operator
from lawful.dependencies.laws import OPERATORS
from lawful.discovery.questions import Question
from lawful.results.check_report import no_removals

if TYPE_CHECKING:
    from lawful.discovery.canonical_ods.questions import CanonicalQuestion
    from lawful.discovery.denials.questions import DenialQuestion
    from lawful.discovery.list_ods.questions import ListQuestion

Strategy = Literal["auto", "full", "hybrid", "lattice", "evidence", "findod", "canonical", "completion"]

FAMILIES = ("key", "fd", "canonical-od", "list-od", "dc")
LATER_FAMILIES = ("pod",)

_STRATEGIES: dict[str, tuple[str, ...]] = {
    "key": ("full", "hybrid"),
    "fd": ("full", "hybrid"),
    "canonical-od": ("lattice", "evidence"),
    "list-od": ("findod", "canonical"),
    "dc": ("full", "hybrid", "completion"),
}


@dataclass(frozen=True)
class ListWishes:
    """What only list-based order dependencies can be asked for; see `ListQuestion`."""

    unidirectional: bool = False
    with_implied: bool = False
    forward_rule: Literal["fd", "od"] = "fd"
    flexible: bool = True


@dataclass(frozen=True)
class DenialWishes:
    """What only denial constraints can be asked for; see `DenialQuestion`."""

    cross_columns: bool = True
    convention: Literal["reduced", "one-per-pair", "set-minimal"] = "reduced"
    order_on_text: bool = False
    constants: int = 0
    operators: tuple[Operator, ...] = OPERATORS
    column_operators: Mapping[str, Sequence[Operator]] = field(default_factory=dict)
    least_shared: float = 0.2
    least_mean_ratio: float = 0.1

    def settings(self) -> dict[str, Any]:
        """All wishes as plain JSON values."""
        of_columns = {name: list(operators) for name, operators in self.column_operators.items()}
        return vars(self) | {"operators": list(self.operators), "column_operators": of_columns}


@dataclass(frozen=True)
class Request:
    """What a user asks of a discovery.

    Parameters
    ----------
    find
        The families of laws, of `FAMILIES`.
    max_size
        The most columns of a key, of a left side, of a context and of a list, and the most predicates of a DC.
    error, measure
        The share of pairs (g1) or rows (g3) that may break a law; 0 asks for laws that hold, and then the measure
        does not matter.
    min_interest
        Leave out laws of less interest; the result then says so, as it does of a largest size.
    time_limit
        Seconds of searching after which to stop with what is certain.
    memory_limit
        Bytes that this process may use.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        How to search, for the families that know this way; the others choose for themselves.
    checkpoint, resume
        Where a search for canonical order dependencies keeps its verdicts, and whether to go on from there.
    partition_chain
        How many products in a row may leave their partitions in the cache; see `CanonicalQuestion`.
    lists, denials
        What only one family can be asked for.
    """

    find: tuple[str, ...] = ("key", "fd")
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    min_interest: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    seed: int = 0
    strategy: Strategy = "auto"
    checkpoint: Path | None = None
    resume: bool = False
    partition_chain: int | None = None
    lists: ListWishes = field(default_factory=ListWishes)
    denials: DenialWishes = field(default_factory=DenialWishes)

    def __post_init__(self) -> None:
        self._refuse_unknown_families()
        if not 0.0 <= self.min_interest <= 1.0:
            raise UsageError(f"the least interest must lie in [0, 1], and is {self.min_interest}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"the time limit must be positive, and is {self.time_limit:g}", "Leave it out for none.")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, and is {self.seed}")
        self._refuse_unknown_strategy()
        self.questions(NullPolicy.EQUAL)  # each refuses what it cannot mean
        if self.error and self.strategy != "auto":
            raise UsageError("a strategy can be chosen only for laws that hold", "Drop --strategy or --error.")
        if self.error and "canonical-od" in self.find:
            raise UsageError(
                "canonical order dependencies can be found only where they hold, not within an error",
                "Drop --error, or leave canonical-od out of --find.",
            )
        if self.error and self.measure == "g3" and "dc" in self.find:
            raise no_removals("Use --measure g1, or leave dc out of --find.")
        if self.lists != ListWishes() and "list-od" not in self.find:
            raise UsageError(
                "only list-based order dependencies can be unidirectional, stated with what they imply, or have a "
                "forward rule",
                "Add list-od to --find, or drop --unidirectional, --with-implied and --forward-rule.",
            )
        if (self.resume or self.checkpoint) and "canonical-od" not in self.find:
            raise UsageError(
                "only a search for canonical order dependencies can be resumed", "Drop --checkpoint and --resume."
            )
        if self.partition_chain is not None and "canonical-od" not in self.find:
            raise UsageError(
                "only a search for canonical order dependencies has a partition chain",
                "Add canonical-od to --find, or drop --partition-chain.",
            )

    def _refuse_unknown_families(self) -> None:
        for family in self.find:
            if family in LATER_FAMILIES:
                raise UsageError(
                    f"laws of the kind {family} cannot be discovered yet", f"Kinds: {', '.join(FAMILIES)}."
                )
            if family not in FAMILIES:
                raise UsageError(f"unknown kind of law {family!r}", f"Kinds: {', '.join(FAMILIES)}.")
        if not self.find:
            raise UsageError("no kind of law is asked for", f"Kinds: {', '.join(FAMILIES)}.")

    def _refuse_unknown_strategy(self) -> None:
        known = list(dict.fromkeys(name for family in self.find for name in _STRATEGIES[family]))
        if self.strategy not in ("auto", *known):
            everywhere = {name for names in _STRATEGIES.values() for name in names}
            what = "no strategy for these laws" if self.strategy in everywhere else "an unknown strategy"
            raise UsageError(f"{self.strategy!r} is {what}", f"Use {', '.join(['auto', *known])}.")

    def questions(self, null_policy: NullPolicy) -> list[Any]:
        """Put the request to each family that is asked for, in the order in which they are searched."""
        asked: list[Any] = []
        if {"key", "fd"} & set(self.find):
            asked.append(self._of_keys_and_fds(null_policy))
        if "canonical-od" in self.find:
            asked.append(self._of_canonical_ods(null_policy))
        if "list-od" in self.find:
            asked.append(self._of_list_ods(null_policy))
        if "dc" in self.find:
            asked.append(self._of_denials(null_policy))
        return asked

    def _strategy_of(self, family: str) -> Any:
        return self.strategy if self.strategy in _STRATEGIES[family] else "auto"

    def _of_keys_and_fds(self, null_policy: NullPolicy) -> Question:
        return Question(
            "key" in self.find,
            "fd" in self.find,
            null_policy,
            self.max_size,
            self.error,
            self.measure,
            self.seed,
            self._strategy_of("fd"),
        )

    def _of_canonical_ods(self, null_policy: NullPolicy) -> CanonicalQuestion:
        from lawful.discovery.canonical_ods.questions import CanonicalQuestion

        return CanonicalQuestion(
            null_policy=null_policy,
            max_size=self.max_size,
            min_interest=self.min_interest,
            seed=self.seed,
            strategy=self._strategy_of("canonical-od"),
            checkpoint=self.checkpoint,
            resume=self.resume,
            partition_chain=self.partition_chain,
        )

    def _of_list_ods(self, null_policy: NullPolicy) -> ListQuestion:
        from lawful.discovery.list_ods.questions import ListQuestion

        return ListQuestion(
            null_policy=null_policy,
            bidirectional=not self.lists.unidirectional,
            forward_rule=self.lists.forward_rule,
            with_implied=self.lists.with_implied,
            flexible=self.lists.flexible,
            max_size=self.max_size,
            error=self.error,
            measure=self.measure,
            seed=self.seed,
            strategy=self._strategy_of("list-od"),
        )

    def _of_denials(self, null_policy: NullPolicy) -> DenialQuestion:
        from lawful.discovery.denials.questions import DenialQuestion

        return DenialQuestion(
            null_policy=null_policy,
            max_size=self.max_size,
            error=self.error,
            seed=self.seed,
            strategy=self._strategy_of("dc"),
            **vars(self.denials),
        )

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
        if "canonical-od" in self.find:
            settings["canonical_od"] = {"strategy": self._of_canonical_ods(NullPolicy.EQUAL).taken_strategy}
        if "list-od" in self.find:
            settings["list_od"] = {name: wish for name, wish in vars(self.lists).items() if name != "flexible"}
        if "dc" in self.find:
            settings["dc"] = self.denials.settings()
        return settings


def families_of(find: str | Iterable[str]) -> tuple[str, ...]:
    """Read the families to find: several names, or one text with commas between them."""
    names = find.split(",") if isinstance(find, str) else find
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def operators_of(texts: Iterable[str]) -> tuple[tuple[Operator, ...], dict[str, tuple[Operator, ...]]]:
    """Read the operators of denial constraints: `=,!=` for all columns, `salary:<,<=` for one, `none` for none."""
    for_all: tuple[Any, ...] = OPERATORS
    by_column: dict[str, tuple[Any, ...]] = {}
    for text in texts:
        column, colon, listed = text.rpartition(":")
        named = families_of(listed)
        if not named:
            raise UsageError(f"{text!r} names no operators", f"Write {column}{colon}none to leave all of them out.")
        operators = () if named == ("none",) else named
        if colon:
            by_column[column] = operators
        else:
            for_all = operators
    return for_all, by_column

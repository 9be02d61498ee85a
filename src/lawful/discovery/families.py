"""The families of laws: what each can be asked, how it is searched for, checked and explained, in one place.

A family is one value. `discover`, `check`, `explain`, the command line and its help read this registry and know no
family by name, so a further family is a folder with its parts and one call of `register`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from lawful.common.errors import UsageError
from lawful.common.meanings import Measure, NullPolicy
from lawful.dependencies.forms import LawForm, forget_form, register_form

if TYPE_CHECKING:
    # With these come Numba and all kernels, and `lawful --help` reads the registry too.
    from lawful.checks.law_checks import LawChecks
    from lawful.discovery.findings import Findings, Listing
    from lawful.discovery.search import Search


class Requested(Protocol):
    """What a user asks of a discovery, as far as families read it."""

    @property
    def find(self) -> tuple[str, ...]:
        """The families that are asked for."""

    @property
    def max_size(self) -> int | None:
        """The most columns or predicates of a law."""

    @property
    def error(self) -> float:
        """The share that may break a law."""

    @property
    def measure(self) -> Measure:
        """What the error is a share of."""

    @property
    def min_interest(self) -> float:
        """The least interest of a law."""

    @property
    def seed(self) -> int:
        """Where random numbers start."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What only some families can be asked for, by name."""

    def strategy_for(self, strategies: Sequence[str]) -> Any:
        """The strategy that is asked for if it is one of these, else `auto`."""


@dataclass(frozen=True)
class Option:
    """Something that a discovery can be asked for, in Python and on the command line.

    Attributes
    ----------
    name
        The name in Python; on the command line its dashed form.
    default
        What holds if nothing is said; its type says what is expected.
    help
        One sentence for the command line.
    metavar
        What the help shows for the value; None for a switch.
    type
        The type of the value, where the default does not tell.
    hidden
        Not offered on the command line.
    """

    name: str
    default: Any
    help: str
    metavar: str | None = None
    type: type[Any] | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Reasons:
    """How a law that holds is explained: by the smaller laws that would imply it.

    Attributes
    ----------
    smaller
        The laws that would make a law follow, each with one column or predicate less, or of a simpler kind.
    shrinkable
        The columns or predicates that a law may not need, and how to make the laws of some of them that would imply it,
        the strongest first; None if there is more to a smaller law than that: then the first that holds is taken, and
        so on until none does.
    grouped
        The columns by which a law groups rows; None takes those that violating rows agree on.
    siblings
        Laws with the same left side that are worth looking at too, given the number of columns.
    tells_minimality
        Whether a law is minimal if no smaller one holds.
    """

    smaller: Callable[[Any], list[Any]] = lambda law: []
    shrinkable: Callable[[Any], tuple[tuple[Any, ...], Callable[[tuple[Any, ...]], list[Any]]]] | None = None
    grouped: Callable[[Any], tuple[int, ...]] | None = None
    siblings: Callable[[Any, int], list[Any]] | None = None
    tells_minimality: bool = True


@dataclass(frozen=True)
class FamilySearch:
    """How laws are searched for; families that are found together share one.

    Attributes
    ----------
    question
        Turns a request into the question of this search, and refuses what makes no sense.
    discover
        Answers it.
    strategies
        The ways to search that a user can choose; without any there is one way.
    options
        What only this search can be asked for.
    measures
        By what errors can be measured; empty if only laws that hold can be found.
    unmeasured
        Why, where one is missing: a message and a hint.
    needs_swaps
        Whether pairs of rows are asked which columns they swap.
    runs_in_python
        Whether its kernels are tested as Python functions too, so that small tables need no compiler.
    states_fds
        Whether all FDs come with the laws.
    limits_interest
        Whether it looks for nothing below a least interest, so that nothing is left out afterwards.
    join
        Makes one listing of those that were handed out as time went by, so that they are ranked together.
    notes
        What to tell a user before the search begins, given the table and the question.
    settings
        What the result says of how its laws were searched for, given the question.
    """

    question: Callable[[Requested, NullPolicy], Any]
    discover: Callable[[Search, Any], Findings]
    strategies: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    measures: tuple[Measure, ...] = ("g1", "g3")
    unmeasured: tuple[str, str] = ("", "")
    needs_swaps: bool = False
    runs_in_python: bool = False
    states_fds: bool = False
    limits_interest: bool = False
    join: Callable[[Sequence[Any]], Listing] | None = None
    notes: Callable[[Any, Any], list[str]] | None = None
    settings: Callable[[Any], dict[str, Any]] = field(default=lambda question: {})


@dataclass(frozen=True)
class Family:
    """One family of laws.

    Attributes
    ----------
    form
        Its name, its law type, how laws are written and read.
    search
        How its laws are discovered; None if they can only be written and checked.
    checks
        How its laws are checked and counted. lawful's own come with the room of checks.
    reasons
        How its laws are explained.
    """

    form: LawForm
    search: FamilySearch | None = None
    checks: LawChecks | None = None
    reasons: Reasons = field(default_factory=Reasons)

    @property
    def name(self) -> str:
        """What documents and the command line call the family."""
        return self.form.kind


_families: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make a family known: it can be discovered, checked, explained, written and read from now on."""
    register_form(family.form)
    if family.checks is not None:
        from lawful.checks.law_checks import register_checks

        register_checks(family.name, family.checks)
    _families[family.name] = family


def forget(name: str) -> None:
    """Take a family that was registered out again."""
    family = _families.pop(name)
    forget_form(name)
    if family.checks is not None:
        from lawful.checks.law_checks import forget_checks

        forget_checks(name)


def families() -> tuple[Family, ...]:
    """All families, in the order in which they are searched for and listed."""
    return tuple(_families.values())


def discoverable() -> tuple[str, ...]:
    """The names of the families that can be discovered."""
    return tuple(family.name for family in families() if family.search is not None)


def family_named(name: str) -> Family:
    """The family of a name."""
    try:
        return _families[name]
    except KeyError:
        raise UsageError(f"unknown kind of law {name!r}", f"Kinds: {', '.join(discoverable())}.") from None


def options() -> dict[str, tuple[Option, tuple[str, ...]]]:
    """Every option that only some families have, with the names of these families."""
    found: dict[str, tuple[Option, tuple[str, ...]]] = {}
    for family in families():
        for option in family.search.options if family.search is not None else ():
            known = found.get(option.name, (option, ()))
            found[option.name] = option, (*known[1], family.name)
    return found

"""lawful's own families. What a family needs to search is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, FORMS, POD, CanonicalOD, Key, ListOD
from lawful.dependencies.implication import IMPLIED_OPERATORS
from lawful.discovery.families import Family, FamilySearch, Option, Reasons, Requested, register
from lawful.discovery.questions import Question

if TYPE_CHECKING:
    from lawful.discovery.findings import Findings, Listing
    from lawful.discovery.search import Search

_FORM = {form.kind: form for form in FORMS}


# Keys and FDs


def _ask_for_keys_and_fds(asked: Requested, null_policy: NullPolicy) -> Question:
    strategy = asked.strategy_for(KEYS_AND_FDS.strategies)
    return Question(
        "key" in asked.find,
        "fd" in asked.find,
        null_policy,
        asked.max_size,
        asked.error,
        asked.measure,
        asked.seed,
        strategy,
    )


def _find_keys_and_fds(search: Search, question: Question) -> Findings:
    from lawful.discovery.keys_and_fds.approximate import discover_almost
    from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds

    return (discover_almost if question.error else discover_keys_and_fds)(search, question)


KEYS_AND_FDS = FamilySearch(
    _ask_for_keys_and_fds, _find_keys_and_fds, strategies=("full", "hybrid"), runs_in_python=True
)


# Canonical order dependencies


def _ask_for_canonical_ods(asked: Requested, null_policy: NullPolicy) -> Any:
    from lawful.discovery.canonical_ods.questions import CanonicalQuestion

    return CanonicalQuestion(
        null_policy=null_policy,
        max_size=asked.max_size,
        min_interest=asked.min_interest,
        seed=asked.seed,
        strategy=asked.strategy_for(CANONICAL_ODS.strategies),
        partition_chain=asked.options.get("partition_chain"),
        error=asked.error,
        measure=asked.measure,
    )


def _find_canonical_ods(search: Search, question: Any) -> Findings:
    from lawful.discovery.canonical_ods.discover import discover_canonical_ods

    return discover_canonical_ods(search, question)


def _join_pairs(listings: Sequence[Any]) -> Listing:
    from lawful.results.canonical_pairs import PackedPairs

    return PackedPairs.joined(listings)


CANONICAL_ODS = FamilySearch(
    _ask_for_canonical_ods,
    _find_canonical_ods,
    strategies=("lattice", "evidence"),
    options=(
        Option(
            "partition_chain",
            None,
            "Keep the partitions on the way to another one if it takes at most so many products; of a longer way, "
            "only the end. No law depends on it.",
            "N",
            hidden=True,
        ),
    ),
    needs_swaps=True,
    states_fds=True,
    limits_interest=True,
    join=_join_pairs,
    settings=lambda question: {} if question.error else {"strategy": question.taken_strategy},
)


# List-based order dependencies


def _ask_for_list_ods(asked: Requested, null_policy: NullPolicy) -> Any:
    from lawful.discovery.list_ods.questions import ListQuestion

    options = asked.options
    return ListQuestion(
        null_policy=null_policy,
        bidirectional=not options["unidirectional"],
        forward_rule=options["forward_rule"],
        with_implied=options["with_implied"],
        max_size=asked.max_size,
        error=asked.error,
        measure=asked.measure,
        seed=asked.seed,
        strategy=asked.strategy_for(LIST_ODS.strategies),
    )


def _find_list_ods(search: Search, question: Any) -> Findings:
    from lawful.discovery.list_ods.discover import discover_list_ods

    return discover_list_ods(search, question)


LIST_ODS = FamilySearch(
    _ask_for_list_ods,
    _find_list_ods,
    strategies=("findod", "canonical"),
    options=(
        Option("unidirectional", False, "All columns rise, none falls."),
        Option("with_implied", False, "State constants, and columns that order rows alike, in full instead of once."),
        Option("forward_rule", "fd", "What makes a list minimal: fd as now defined, od as older systems.", hidden=True),
    ),
)


# Pointwise order dependencies


def _ask_for_pods(asked: Requested, null_policy: NullPolicy) -> Any:
    from lawful.discovery.pods.questions import PointwiseQuestion

    return PointwiseQuestion(
        null_policy=null_policy,
        max_size=asked.max_size,
        error=asked.error,
        seed=asked.seed,
        strategy=asked.strategy_for(PODS.strategies),
    )


def _find_pods(search: Search, question: Any) -> Findings:
    from lawful.discovery.pods.discover import discover_pointwise

    return discover_pointwise(search, question)


def _join_pods(listings: Sequence[Any]) -> Listing:
    from lawful.discovery.pods.listing import PointwiseListing

    return PointwiseListing.joined(listings)


PODS = FamilySearch(
    _ask_for_pods,
    _find_pods,
    strategies=("full", "hybrid"),
    measures=("g1",),
    unmeasured=(
        "the fewest rows whose removal mends a pointwise order dependency (g3) are too hard to find",
        "Use --measure g1, or leave pod out of --find.",
    ),
    join=_join_pods,
)


# Denial constraints


def _ask_for_denials(asked: Requested, null_policy: NullPolicy) -> Any:
    from lawful.discovery.denials.questions import DenialQuestion

    options = dict(asked.options)
    for_all, by_column = operators_of(options.pop("operators"))
    own = {option.name: options[option.name] for option in DENIALS.options if option.name != "operators"}
    return DenialQuestion(
        null_policy=null_policy,
        max_size=asked.max_size,
        error=asked.error,
        seed=asked.seed,
        strategy=asked.strategy_for(DENIALS.strategies),
        operators=for_all,
        column_operators=by_column,
        **own,
    )


def _find_denials(search: Search, question: Any) -> Findings:
    from lawful.discovery.denials.discover import discover_denial_constraints

    return discover_denial_constraints(search, question)


def _compared_cells(table: Any, question: Any) -> list[str]:
    """The predicates, which decide how long the search takes."""
    from lawful.discovery.denials.questions import predicate_space

    return predicate_space(table, question).describe(table.names)


def operators_of(texts: str | Iterable[str]) -> tuple[tuple[Any, ...], dict[str, tuple[Any, ...]]]:
    """Read operators: `=,!=` for all columns, `salary:<,<=` for one, `none` for none; all if none is named."""
    from lawful.dependencies.laws import OPERATORS

    for_all: tuple[Any, ...] | None = None
    by_column: dict[str, tuple[Any, ...]] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        column, colon, listed = text.rpartition(":")
        named = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
        if not named:
            raise UsageError(f"{text!r} names no operators", f"Write {column}{colon}none to leave all of them out.")
        operators = () if named == ("none",) else named
        if colon:
            by_column[column] = operators
        else:
            for_all = (*(for_all or ()), *operators)
    return OPERATORS if for_all is None else for_all, by_column


DENIALS = FamilySearch(
    _ask_for_denials,
    _find_denials,
    strategies=("full", "hybrid", "completion"),
    options=(
        Option("cross_columns", True, "Compare columns of like values with each other too, or each only with itself."),
        Option(
            "convention",
            "reduced",
            "Which minimal ones: reduced by what implies what; one predicate per pair of columns; or all minimal sets.",
            "reduced|one-per-pair|set-minimal",
        ),
        Option("order_on_text", False, "Compare texts by < and > too."),
        Option("constants", 0, "Compare each column with so many of its most frequent values too.", "N"),
        Option(
            "operators",
            (),
            "The operators to use: '=,!=' for all columns, 'salary:<,<=' for one, 'name:none' to leave it out; may be "
            "repeated. If left out, all: =,<,<=,>,>=,!=",
            "[COLUMN:]OPERATORS",
        ),
        Option("least_shared", 0.2, "Compare two columns by = if this share of their values is common.", "X"),
        Option(
            "least_mean_ratio", 0.1, "Compare two columns by < if their means differ by no more than this factor.", "X"
        ),
    ),
    measures=("g1",),
    unmeasured=(
        "the fewest rows whose removal mends a denial constraint (g3) are too hard to find",
        "Use --measure g1, or leave dc out of --find.",
    ),
    notes=_compared_cells,
)


# How laws are explained


def _one_less(parts: Sequence[Any], make: Any) -> list[Any]:
    return [make(tuple(other for other in parts if other != part)) for part in parts]


KEY_REASONS = Reasons(
    smaller=lambda law: _one_less(law.columns, Key), shrinkable=lambda law: (law.columns, lambda some: [Key(some)])
)
FD_REASONS = Reasons(
    smaller=lambda law: _one_less(law.lhs, lambda some: FD(some, law.rhs)),
    shrinkable=lambda law: (law.lhs, lambda some: [FD(some, law.rhs)]),
    siblings=lambda law, width: [FD(law.lhs, rhs) for rhs in range(width) if rhs not in (*law.lhs, law.rhs)],
)


def _in_smaller_contexts(law: CanonicalOD) -> list[Any]:
    smaller = _one_less(law.context, lambda some: replace(law, context=some))
    return [*smaller, FD(law.context, law.left), FD(law.context, law.right)]  # or no order is left to speak of


CANONICAL_REASONS = Reasons(
    smaller=_in_smaller_contexts,
    shrinkable=lambda law: (
        law.context,
        lambda some: [FD(some, law.left), FD(some, law.right), replace(law, context=some)],
    ),
)
LIST_REASONS = Reasons(
    # What a shorter list orders, a longer one that begins with it orders too.
    smaller=lambda law: [ListOD(law.lhs[:size], law.rhs) for size in range(1, len(law.lhs))],
    grouped=lambda law: tuple(column for column, _ in law.lhs),
    tells_minimality=False,  # its lists must be minimal too, and no longer right list may do
)


def _more_general(law: POD) -> list[Any]:
    """The laws that ask for one thing less on the left, or say one thing more on the right."""
    column, operator = law.rhs
    weaker = [
        POD((*(other for other in law.lhs if other != marked), *instead), law.rhs)
        for marked in law.lhs
        for instead in ((), *(((marked[0], mark),) for mark in IMPLIED_OPERATORS[marked[1]] - {marked[1]}))
    ]
    stronger = [POD(law.lhs, (column, more)) for more in ("<", "=") if operator == "<="]
    return [*sorted(weaker, key=lambda one: (len(one.lhs), one.lhs)), *stronger]


POD_REASONS = Reasons(smaller=_more_general)
DENIAL_REASONS = Reasons(
    smaller=lambda law: _one_less(law.predicates, DC), shrinkable=lambda law: (law.predicates, lambda some: [DC(some)])
)

for family in (
    Family(_FORM["key"], KEYS_AND_FDS, reasons=KEY_REASONS),
    Family(_FORM["fd"], KEYS_AND_FDS, reasons=FD_REASONS),
    Family(_FORM["canonical-od"], CANONICAL_ODS, reasons=CANONICAL_REASONS),
    Family(_FORM["list-od"], LIST_ODS, reasons=LIST_REASONS),
    Family(_FORM["pod"], PODS, reasons=POD_REASONS),
    Family(_FORM["dc"], DENIALS, reasons=DENIAL_REASONS),
):
    register(family)

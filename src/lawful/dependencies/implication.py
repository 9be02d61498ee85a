"""What follows from laws without looking at a table.

Every rule here is sound: a law that follows holds on each table on which the premises hold. Each function
says whether it is also complete, that is, whether it finds everything that follows. Nulls are values here
(the policy `equal`); `implies` knows both policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from lawful.common.errors import UsageError
from lawful.common.meanings import Direction, NullPolicy
from lawful.dependencies.denial_implication import implies_dc
from lawful.dependencies.forms import columns_of
from lawful.dependencies.laws import (
    DC,
    FD,
    MIRRORED,
    POD,
    CanonicalOD,
    Key,
    Law,
    ListOD,
    Operator,
)

IMPLIED_OPERATORS: Final[Mapping[Operator, frozenset[Operator]]] = {
    "=": frozenset({"=", "<=", ">="}),
    "<": frozenset({"<", "<="}),
    ">": frozenset({">", ">="}),
    "<=": frozenset({"<="}),
    ">=": frozenset({">="}),
}
"""The operators of pointwise order dependencies that hold wherever the given one does, itself included."""


def implies(premises: Iterable[Law], conclusion: Law, nulls: NullPolicy = NullPolicy.EQUAL) -> bool:
    """Tell whether a law follows from others of its family.

    FDs, canonical and list-based order dependencies are one family: list-based ones are read as their
    canonical parts. Premises of other families are passed over.

    Under `ignore` only premises over the columns of the conclusion count. The conclusion is judged on rows
    without a null in those columns; such a premise holds there, and among those rows null does not occur, so
    all that follows under `equal` follows. Other premises say nothing: their further column may be all null.
    """
    laws = list(premises)
    if nulls is NullPolicy.IGNORE:
        if any(isinstance(law, ListOD) for law in (*laws, conclusion)):
            raise UsageError("List-based order dependencies know nulls only as values, as ORDER BY does.")
        judged = set(columns_of(conclusion))
        laws = [law for law in laws if judged.issuperset(columns_of(law))]
    match conclusion:
        case Key():
            return implies_key((law for law in laws if isinstance(law, Key)), conclusion)
        case POD():
            return implies_pod((law for law in laws if isinstance(law, POD)), conclusion)
        case DC():
            return implies_dc((law for law in laws if isinstance(law, DC)), conclusion)
    fds, ods = _set_based(laws)
    match conclusion:
        case FD():
            return implies_fd(fds, conclusion)
        case CanonicalOD():
            return implies_canonical_od(ods, conclusion, fds)
        case ListOD():
            return implies_list_od((), conclusion, fds, ods)


def implies_key(keys: Iterable[Key], key: Key) -> bool:
    """Tell whether a key follows from keys: some premise is a subset of it.

    Rows that agree on all of a set agree on each subset, so a set is a key if a subset is. Complete: two rows
    that agree exactly on the set break its subsets and no other key.
    """
    columns = set(key.columns)
    return any(columns.issuperset(premise.columns) for premise in keys)


def closure(attributes: Iterable[int], fds: Iterable[FD]) -> frozenset[int]:
    """Find every column on which rows agree whenever they agree on `attributes`, by Armstrong's rules.

    An FD whose left side is in the closure adds its right side. Complete: two rows that agree exactly on the
    closure break no premise.
    """
    dependencies = list(fds)
    missing = [len(fd.lhs) for fd in dependencies]
    waiting: dict[int, list[int]] = {}
    for position, fd in enumerate(dependencies):
        for column in fd.lhs:
            waiting.setdefault(column, []).append(position)
    reached = set(attributes)
    pending = list(reached)
    ready = [fd.rhs for fd in dependencies if not fd.lhs]
    while pending or ready:
        for column in ready:
            if column not in reached:
                reached.add(column)
                pending.append(column)
        ready = []
        if pending:
            for position in waiting.get(pending.pop(), ()):
                missing[position] -= 1
                if missing[position] == 0:
                    ready.append(dependencies[position].rhs)
    return frozenset(reached)


def implies_fd(fds: Iterable[FD], fd: FD) -> bool:
    """Tell whether an FD follows from FDs: its right side is in the closure of its left side. Complete."""
    return fd.rhs in closure(fd.lhs, fds)


def implies_canonical_od(ods: Iterable[CanonicalOD], od: CanonicalOD, fds: Iterable[FD] = ()) -> bool:
    """Tell whether a canonical order dependency follows from others and from FDs.

    Rows that agree on the context agree on its closure. So it follows if the closure holds one of the two
    columns, which then cannot disagree, or if the pair is compatible in the same direction in a context
    within the closure. Not complete: chains of compatible pairs are not followed.
    """
    reached = closure(od.context, fds)
    if od.left in reached or od.right in reached:
        return True
    pair = (od.left, od.right, od.direction)
    return any(
        (premise.left, premise.right, premise.direction) == pair and reached.issuperset(premise.context)
        for premise in ods
    )


def canonical_parts(list_od: ListOD) -> tuple[tuple[FD, ...], tuple[CanonicalOD, ...]]:
    """Take a list-based order dependency X -> Y apart into the FDs and canonical ones that say the same.

    There is no split if X determines each column of Y. There is no swap if X_i and Y_j never disagree among
    rows that agree on X_1 .. X_(i-1) and Y_1 .. Y_(j-1), for the first difference of a swapped pair in X and
    in Y would be such a disagreement. A column that meets itself in the other direction disagrees with itself
    wherever it differs, so it must be constant there: one more FD. Parts that always hold are left out.
    """
    determining = [column for column, _ in list_od.lhs]
    fds = [FD(tuple(determining), column) for column, _ in list_od.rhs if column not in determining]
    ods: list[CanonicalOD] = []
    for i, (left, left_direction) in enumerate(list_od.lhs):
        for j, (right, right_direction) in enumerate(list_od.rhs):
            context = tuple({*determining[:i], *(column for column, _ in list_od.rhs[:j])})
            if left in context or right in context:
                continue
            direction: Direction = "asc" if left_direction == right_direction else "desc"
            if left != right:
                ods.append(CanonicalOD(context, left, right, direction))
            elif direction == "desc":
                fds.append(FD(context, left))
    return tuple(dict.fromkeys(fds)), tuple(dict.fromkeys(ods))


def implies_list_od(
    list_ods: Iterable[ListOD],
    list_od: ListOD,
    fds: Iterable[FD] = (),
    canonical_ods: Iterable[CanonicalOD] = (),
) -> bool:
    """Tell whether a list-based order dependency follows from others, from FDs and from canonical ones.

    It follows if each of its canonical parts does, because a law and its parts hold on the same tables. Not
    complete, because the rule for canonical ones is not.
    """
    all_fds, all_ods = _set_based((*list_ods, *fds, *canonical_ods))
    needed_fds, needed_ods = canonical_parts(list_od)
    return all(implies_fd(all_fds, fd) for fd in needed_fds) and all(
        implies_canonical_od(all_ods, od, all_fds) for od in needed_ods
    )


def mirrored(pod: POD) -> POD | None:
    """Give the other form of a pointwise order dependency with the two rows exchanged, if it has one.

    Only `=` on the right stays an operator that a right side may have.
    """
    if pod.rhs[1] != "=":
        return None
    return POD(tuple((column, MIRRORED[operator]) for column, operator in pod.lhs), pod.rhs)


def implies_pod(pods: Iterable[POD], pod: POD) -> bool:
    """Tell whether a pointwise order dependency follows from another one, or from its mirror image.

    It follows if each mark of the premise's left side is implied by the same column's mark on this left side,
    and this right side by the premise's: pairs then pass from left to left, over the premise, to right. Not
    complete: premises are not chained or read backwards.
    """
    left_marks = dict(pod.lhs)
    for premise in pods:
        for form in (premise, mirrored(premise)):
            if (
                form is not None
                and form.rhs[0] == pod.rhs[0]
                and pod.rhs[1] in IMPLIED_OPERATORS[form.rhs[1]]
                and _contained(form, left_marks)
            ):
                return True
    return False


def _contained(premise: POD, left_marks: Mapping[int, Operator]) -> bool:
    return all(
        column in left_marks and operator in IMPLIED_OPERATORS[left_marks[column]] for column, operator in premise.lhs
    )


def _set_based(laws: Iterable[Law]) -> tuple[list[FD], list[CanonicalOD]]:
    fds: list[FD] = []
    ods: list[CanonicalOD] = []
    for law in laws:
        if isinstance(law, FD):
            fds.append(law)
        elif isinstance(law, CanonicalOD):
            ods.append(law)
        elif isinstance(law, ListOD):
            part_fds, part_ods = canonical_parts(law)
            fds += part_fds
            ods += part_ods
    return fds, ods

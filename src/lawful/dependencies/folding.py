"""Which of many laws need not be stated, because they follow from others that are.

Laws are gone through in the order in which they are listed. One that follows from those stated before it is folded
away; all others are stated. So what is stated implies all that was listed, and nothing is lost. Beside what `implies`
knows within a family, families help each other here: a key determines every column, a set whose closure has a key is a
key, and a denial constraint or a pointwise order dependency may be a simpler law in disguise.

Nulls are values here. Where they are ignored laws are not transitive, and only what `implies` allows is folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lawful.common.meanings import NullPolicy
from lawful.dependencies.denial_readings import plain_law
from lawful.dependencies.implication import closure, implies
from lawful.dependencies.laws import DC, FD, POD, CanonicalOD, Key, Law, ListOD
from lawful.dependencies.pointwise import as_denial


def folded(laws: Sequence[Law], width: int, nulls: NullPolicy = NullPolicy.EQUAL) -> list[bool]:
    """Say of each law whether it follows from those before it that are stated.

    Parameters
    ----------
    laws
        The laws in the order in which they are listed.
    width
        The number of columns of the table.
    nulls
        What null means.
    """
    stated: list[Law] = []
    marks = []
    for law in map(_undisguised, laws):
        follows = follows_from(stated, law, width, nulls)
        marks.append(follows)
        if not follows:
            stated.append(law)
    return marks


def follows_from(stated: Sequence[Law], law: Law, width: int, nulls: NullPolicy = NullPolicy.EQUAL) -> bool:
    """Tell whether a law follows from others of any family."""
    law = _undisguised(law)
    premises = [_undisguised(premise) for premise in stated]
    if nulls is NullPolicy.IGNORE:
        return law in premises or (not isinstance(law, ListOD) and implies(_same_meaning(premises), law, nulls))
    fds = [
        *_fds(premises),
        *(FD(key.columns, c) for key in _keys(premises) for c in range(width) if c not in key.columns),
    ]
    match law:
        case Key():
            reached = closure(law.columns, fds)
            return any(reached.issuperset(key.columns) for key in _keys(premises))
        case FD() | CanonicalOD() | ListOD():
            return implies([*fds, *(each for each in premises if isinstance(each, CanonicalOD | ListOD))], law)
        case _:
            return implies(premises, law)


def _undisguised(law: Law) -> Law:
    """The key, FD or order that a constraint is, if it is one."""
    if isinstance(law, DC):
        return plain_law(law) or law
    if isinstance(law, POD):
        return plain_law(as_denial(law)) or law
    return law


def _same_meaning(premises: Iterable[Law]) -> list[Law]:
    return [law for law in premises if not isinstance(law, ListOD)]


def _fds(laws: Iterable[Law]) -> list[FD]:
    return [law for law in laws if isinstance(law, FD)]


def _keys(laws: Iterable[Law]) -> list[Key]:
    return [law for law in laws if isinstance(law, Key)]

"""Thinking without data: which candidates can still hold, and which of them are minimal.

Everything here speaks of sets of columns, packed in 64-bit words (`sets`). Evidence becomes hypergraphs
(`growing_edges`, `inversion`), their minimal hitting sets are the laws (`hitting_sets`), and these are kept up to date
while evidence comes and goes (`maintained_hitting_sets`, `kept_determinants`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lawful.search.hitting_sets import (
        HittingSetSearch,
        easy_hitting_sets,
        iterate_hitting_sets,
        minimal_hitting_sets,
    )
    from lawful.search.keys_and_fds.growing_edges import GrowingEdges
    from lawful.search.keys_and_fds.inversion import FEW_COLUMNS, KEY, determinants_of_few_columns
    from lawful.search.keys_and_fds.kept_determinants import GoalChange, KeptDeterminants
    from lawful.search.maintained_hitting_sets import Change, HittingSets
    from lawful.search.set_trie import SetTrie
    from lawful.search.sets import (
        distinct_sets,
        full_set,
        minimal_sets,
        pack_set,
        pack_sets,
        set_sizes,
        sorted_sets,
        unpack_set,
        unpack_sets,
        words_for,
    )

__all__ = [
    "FEW_COLUMNS",
    "KEY",
    "Change",
    "GoalChange",
    "GrowingEdges",
    "HittingSetSearch",
    "HittingSets",
    "KeptDeterminants",
    "SetTrie",
    "determinants_of_few_columns",
    "distinct_sets",
    "easy_hitting_sets",
    "full_set",
    "iterate_hitting_sets",
    "minimal_hitting_sets",
    "minimal_sets",
    "pack_set",
    "pack_sets",
    "set_sizes",
    "sorted_sets",
    "unpack_set",
    "unpack_sets",
    "words_for",
]

_HOMES = {
    "Change": "maintained_hitting_sets",
    "FEW_COLUMNS": "keys_and_fds.inversion",
    "GoalChange": "keys_and_fds.kept_determinants",
    "GrowingEdges": "keys_and_fds.growing_edges",
    "HittingSetSearch": "hitting_sets",
    "HittingSets": "maintained_hitting_sets",
    "KEY": "keys_and_fds.inversion",
    "KeptDeterminants": "keys_and_fds.kept_determinants",
    "SetTrie": "set_trie",
    "determinants_of_few_columns": "keys_and_fds.inversion",
    "distinct_sets": "sets",
    "easy_hitting_sets": "hitting_sets",
    "full_set": "sets",
    "iterate_hitting_sets": "hitting_sets",
    "minimal_hitting_sets": "hitting_sets",
    "minimal_sets": "sets",
    "pack_set": "sets",
    "pack_sets": "sets",
    "set_sizes": "sets",
    "sorted_sets": "sets",
    "unpack_set": "sets",
    "unpack_sets": "sets",
    "words_for": "sets",
}
"""Each is loaded when it is asked for: small tables need few of them."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lawful.search.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lawful.search' has no attribute {name!r}")

"""Thinking without data: which candidates can still hold, and which of them are minimal.

Everything here speaks of sets of columns, packed in 64-bit words (`sets`). Evidence becomes hypergraphs
(`growing_edges`, `inversion`), their minimal hitting sets are the laws (`hitting_sets`), and these are kept up to date
while evidence comes and goes (`maintained_hitting_sets`, `kept_determinants`).
"""

from lawful.search.hitting_sets import HittingSetSearch, easy_hitting_sets, iterate_hitting_sets, minimal_hitting_sets
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

"""The exact multiset of agree sets of a table that changes, and what is asked of it.

After K. Belhajjame, "DynASt: Efficient Maintenance of Agree-Sets Against Dynamic Datasets". `agree_multiset` counts;
`compared_rows`, `value_index` and `dynast` are three ways to count a batch, of which the last is the paper's.
`packed_agree_sets` and `agree_set_tree` tell how many pairs break a key or an FD.
"""

from lawful.evidence.living.agree_multiset import AgreeMultiset, BatchStrategy, CountedSets, MultisetChange
from lawful.evidence.living.agree_set_tree import AgreeSetTree
from lawful.evidence.living.packed_agree_sets import PackedAgreeSets, SubsetCounts, violation_counts
from lawful.evidence.living.violation_masks import KEY, ViolationCounts

__all__ = [
    "KEY",
    "AgreeMultiset",
    "AgreeSetTree",
    "BatchStrategy",
    "CountedSets",
    "MultisetChange",
    "PackedAgreeSets",
    "SubsetCounts",
    "ViolationCounts",
    "violation_counts",
]

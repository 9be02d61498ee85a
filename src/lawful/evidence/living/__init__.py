"""Evidence of a table that changes: the exact multiset of its agree sets, or some with witnesses.

After K. Belhajjame, "DynASt: Efficient Maintenance of Agree-Sets Against Dynamic Datasets". `agree_multiset` counts;
`compared_rows`, `value_index` and `dynast` are three ways to count a batch, of which the last is the paper's.
`packed_agree_sets` and `agree_set_tree` tell how many pairs break a key or an FD. `witnessed_sets` keeps a few pairs of
each agree set instead, and `new_pairs` finds those of a batch that can refute something.
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

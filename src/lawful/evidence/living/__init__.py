"""Evidence of a table that changes: the exact multiset of its agree sets (DynASt, EDBT 2023), or some with witnesses.

`agree_multiset` counts; `compared_rows`, `value_index` and `dynast` are three ways to count a batch. `witnessed_sets`
keeps a few pairs of each agree set, and `new_pairs` finds those of a batch that can refute something.
"""

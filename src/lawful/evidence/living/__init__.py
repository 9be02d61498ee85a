"""The exact multiset of agree sets of a table that changes, and what is asked of it (DynASt, EDBT 2023).

`agree_multiset` counts; `compared_rows`, `value_index` and `dynast` are three ways to count a batch.
"""

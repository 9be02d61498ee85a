"""Indexes by order on a table that changes: the rows that compare with a new row in two given ways.

After A. Ran, Z. Tan, S. Ma and S. Qin, "Pointwise Order Dependency Discovery on Dynamic Data" (IncPOD), sections IV and
V. `chain_index` is the index, `order_keys` the numbers that it sorts by, `plan` chooses indexes for a set of PODs, and
`candidates` lists the pairs of a batch that may break one of them. `ordered_rows` has all rows as ranks.
"""

from lawful.evidence.living.orders.candidates import (
    LISTED_COST,
    CandidateChunk,
    better_with_all,
    candidate_counts,
    is_better_with_all,
    violating_candidates,
)
from lawful.evidence.living.orders.chain_index import ChainIndex, IndexStatistics
from lawful.evidence.living.orders.fetches import Fetch, fetches_of
from lawful.evidence.living.orders.order_keys import OrderKeys, TableKeys
from lawful.evidence.living.orders.plan import IndexPlan, PlannedIndex, choose_indexes

__all__ = [
    "LISTED_COST",
    "CandidateChunk",
    "ChainIndex",
    "Fetch",
    "IndexPlan",
    "IndexStatistics",
    "OrderKeys",
    "PlannedIndex",
    "TableKeys",
    "better_with_all",
    "candidate_counts",
    "choose_indexes",
    "fetches_of",
    "is_better_with_all",
    "violating_candidates",
]

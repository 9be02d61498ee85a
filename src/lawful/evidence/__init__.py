"""Evidence: what pairs of rows say about the laws of a table.

A pair of rows compared on some columns is a sign vector (`signs`), and an agree set is its projection. Small
tables are compared in full (`exact`, `multisets`); from large ones, samples fill a pool of distinct
vectors that all families of laws share (`pool`, `sampling`, `focused`). `living` keeps the agree sets of a table
that changes.
"""

from lawful.evidence.all_swaps import all_swaps, swaps_of_tile
from lawful.evidence.equal_rows import equal_rows
from lawful.evidence.exact import Tile, agree_sets_of_tile, all_agree_sets, tiles
from lawful.evidence.focused import EFFICIENCY_THRESHOLD, FocusedSampler, Strategy
from lawful.evidence.multisets import AgreeSets, merge
from lawful.evidence.pairs_of_rows import Rows, agree_sets_of_rows, tile_of_rows
from lawful.evidence.pool import Pool
from lawful.evidence.sampling import SampleStats, WindowSampler, YieldSampler, sample_random_pairs
from lawful.evidence.signs import RowMatrix, SignVectors
from lawful.evidence.swap_sets import SwapSets, merge_swaps
from lawful.tables.ranked_table import ChosenRows, RankedTable, some_rows

__all__ = [
    "EFFICIENCY_THRESHOLD",
    "AgreeSets",
    "ChosenRows",
    "FocusedSampler",
    "Pool",
    "RankedTable",
    "RowMatrix",
    "Rows",
    "SampleStats",
    "SignVectors",
    "Strategy",
    "SwapSets",
    "Tile",
    "WindowSampler",
    "YieldSampler",
    "agree_sets_of_rows",
    "agree_sets_of_tile",
    "all_agree_sets",
    "all_swaps",
    "equal_rows",
    "merge",
    "merge_swaps",
    "sample_random_pairs",
    "some_rows",
    "swaps_of_tile",
    "tile_of_rows",
    "tiles",
]

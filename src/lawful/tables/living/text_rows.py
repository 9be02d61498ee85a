"""Some rows of canonical texts as an encoded table, for checks that see no more of a table than these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.meanings import ColumnType
from lawful.tables.living.codes import Codes
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingColumn, LivingTable


def text_rows(columns: Mapping[int, pa.Array], types: Sequence[ColumnType], rows: int) -> LiveView:
    """Rows with the texts of some columns; the others, which are not asked for, are null."""
    codes = np.zeros((len(types), rows), np.int32)
    living = [LivingColumn(f"c{position}", type_, Dictionary()) for position, type_ in enumerate(types)]
    for position, texts in columns.items():
        coded = pc.dictionary_encode(texts)
        living[position].dictionary = Dictionary.of(coded.dictionary)
        places = pc.fill_null(coded.indices, -1).to_numpy()
        codes[position] = places + 1  # null is 0, the first text 1
    return LiveView.of(LivingTable("rows", living, Codes(codes)))

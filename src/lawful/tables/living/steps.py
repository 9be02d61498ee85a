"""Reading texts step by step: each step takes those that look as it wants them, and leaves the rest to the next.

So the common spellings are read by a pass of Arrow over all texts, and only what is left by ways that take longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Step = tuple[str, Callable[[pa.Array], pa.Array]]
"""What texts must look like, and what makes canonical texts of them, or null where they are no values after all."""


def as_it_is(texts: pa.Array) -> pa.Array:
    """For spellings that are canonical."""
    return texts


def one_by_one(read: Callable[[str], str | None]) -> Callable[[pa.Array], pa.Array]:
    """For rare spellings, which Python reads one after the other; a text that repeats is read once."""

    def read_all(texts: pa.Array) -> pa.Array:
        distinct = texts.dictionary_encode()
        found = pa.array([read(text) for text in distinct.dictionary.to_pylist()], pa.string())
        return found.take(distinct.indices)

    return read_all


def stepwise(texts: pa.Array, steps: Sequence[Step]) -> pa.Array:
    """The canonical texts of `texts`, none of which is null; null where no step takes a text."""
    places = np.arange(len(texts))
    taken, parts = [], []
    for pattern, convert in steps:
        if len(texts) == 0:
            break
        matches = pc.match_substring_regex(texts, pattern)
        if not pc.any(matches).as_py():
            continue
        if pc.all(matches).as_py():  # nearly always so: nothing is to be picked out
            taken.append(places)
            parts.append(convert(texts))
            texts, places = texts.slice(0, 0), places[:0]
            break
        flags = matches.to_numpy(zero_copy_only=False)
        taken.append(places[flags])
        parts.append(convert(texts.filter(matches)))
        texts, places = texts.filter(pc.invert(matches)), places[~flags]
    if len(texts):
        taken.append(places)
        parts.append(pa.nulls(len(texts), pa.string()))
    if len(parts) == 0:
        return texts
    if len(parts) == 1:
        return parts[0]
    positions = np.concatenate(taken)
    back = np.empty(len(positions), np.int64)
    back[positions] = np.arange(len(positions))
    return pa.concat_arrays(parts).take(pa.array(back))

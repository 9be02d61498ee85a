"""What workers find, as bytes that travel to the driver, and back again."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.checks import GroupRows, VariantRows
from lawful.checks.voting.opinions import Opinion
from lawful.common.arrays import Int32s
from lawful.evidence import AgreeSets, Pool, SignVectors, SwapSets
from lawful.evidence.denials.evidence import DenialEvidence


def sets_bytes(found: AgreeSets) -> bytes:
    """Write agree sets."""
    return _to_bytes(
        {"agree": found.agree, "witnesses": found.witnesses, "differ": found.known_differ, "counts": found.counts}
    )


def read_sets(payload: bytes, columns: Sequence[int]) -> AgreeSets:
    """Read agree sets over some columns."""
    found = _from_bytes(payload)
    return AgreeSets(tuple(columns), found["agree"], found.get("differ"), found.get("counts"), found["witnesses"])


def evidence_bytes(found: DenialEvidence) -> bytes:
    """Write the evidence for denial constraints."""
    signs = {"less": found.signs.less, "greater": found.signs.greater}
    return _to_bytes({**signs, "witnesses": found.witnesses, "counts": found.counts})


def read_evidence(payload: bytes) -> DenialEvidence:
    """Read the evidence for denial constraints."""
    found = _from_bytes(payload)
    return DenialEvidence(SignVectors(found["less"], found["greater"]), found.get("counts"), found["witnesses"])


def part_bytes(part: Pool | int) -> bytes:
    """Write what a pool holds, or only how many pairs there would be."""
    if isinstance(part, int):
        return _to_bytes({"pairs": np.array([part])})
    differ = part.differ if part.knows_unknown else None
    return _to_bytes({"agree": part.agree, "witnesses": part.witnesses, "differ": differ})


def read_part(payload: bytes, pool: Pool) -> Pool | int:
    """Read such a part as a pool of the same rows as `pool`."""
    found = _from_bytes(payload)
    if "pairs" in found:
        return int(found["pairs"][0])
    part = pool.empty_copy()
    part.add_sets(found["agree"], found.get("differ"), found["witnesses"])
    return part


def swap_bytes(found: SwapSets) -> bytes:
    """Write agree sets and what is swapped under each."""
    return _to_bytes({"agree": found.agree, "refuted": found.refuted, "witnesses": found.witnesses})


def read_swaps(payload: bytes, columns: Sequence[int]) -> SwapSets:
    """Read agree sets over some columns, and what is swapped under each."""
    found = _from_bytes(payload)
    return SwapSets(tuple(columns), found["agree"], found["refuted"], found["witnesses"])


def array_bytes(pairs: Int32s) -> bytes:
    """Write pairs of rows."""
    return _to_bytes({"pairs": pairs})


def read_array(payload: bytes) -> Int32s:
    """Read pairs of rows."""
    pairs: Int32s = _from_bytes(payload)["pairs"]
    return pairs


_OPINION = ("rows", "weights", "others", "rivals", "suggested")


def opinion_bytes(opinion: Opinion) -> bytes:
    """Write what a law thinks of some rows."""
    arrays = {name: getattr(opinion, name) for name in _OPINION}
    return _to_bytes(arrays | {"counts": np.array([opinion.tested, opinion.failed], np.int64)})


def read_opinion(payload: bytes) -> Opinion:
    """Read what a law thinks of some rows."""
    found = _from_bytes(payload)
    counts = found.pop("counts").tolist()
    rows, weights, others, rivals, suggested = (found[name] for name in _OPINION)
    return Opinion(rows, weights, others, rivals, suggested, tested=counts[0], failed=counts[1])


def read_summary(told: Sequence[Any]) -> GroupRows:
    """Read a group of violating rows that was told as JSON."""
    size, first, variants, more = told
    return GroupRows(size, first, tuple(VariantRows(rows, tuple(firsts)) for rows, firsts in variants), more)


def batch_bytes(batch: pa.RecordBatch) -> bytes:
    """Write a batch of rows with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def read_batch(payload: bytes) -> pa.RecordBatch:
    """Read a batch of rows."""
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_next_batch()


def _to_bytes(arrays: Mapping[str, npt.NDArray[Any] | None]) -> bytes:
    out = io.BytesIO()
    kept = {name: array for name, array in arrays.items() if array is not None}
    np.savez(out, allow_pickle=False, **kept)
    return out.getvalue()


def _from_bytes(payload: bytes) -> dict[str, npt.NDArray[Any]]:
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        return dict(arrays)

"""Lines of text put together from pieces: one for each packed set, all of a chunk in one buffer."""

from __future__ import annotations

from lawful.common.arrays import Bytes, Int64s, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, lowest


@compiled
def add_member_lengths(lengths: Int64s, family: Words, offsets: Int64s, separator: int, if_none: int) -> None:
    """Add the length of the pieces of each set's members with separators between them, or of what stands if none."""
    for i in range(family.shape[0]):
        total = -separator
        for w in range(family.shape[1]):
            rest = family[i, w]
            while rest != ZERO:
                member = w * 64 + lowest(rest)
                rest &= rest - ONE
                total += offsets[member + 1] - offsets[member] + separator
        lengths[i] += total if total > -separator else if_none


@compiled
def put_members(
    out: Bytes, ends: Int64s, family: Words, pieces: Bytes, offsets: Int64s, separator: Bytes, if_none: Bytes
) -> None:
    """Write the pieces of each set's members behind what its line has, and move its end."""
    for i in range(family.shape[0]):
        end = ends[i]
        has_any = False
        for w in range(family.shape[1]):
            rest = family[i, w]
            while rest != ZERO:
                member = w * 64 + lowest(rest)
                rest &= rest - ONE
                if has_any:
                    for k in range(separator.size):
                        out[end + k] = separator[k]
                    end += separator.size
                has_any = True
                for k in range(offsets[member], offsets[member + 1]):
                    out[end] = pieces[k]
                    end += 1
        if not has_any:
            for k in range(if_none.size):
                out[end + k] = if_none[k]
            end += if_none.size
        ends[i] = end


@compiled
def put_pieces(out: Bytes, ends: Int64s, codes: Int64s, pieces: Bytes, offsets: Int64s) -> None:
    """Write one piece, chosen by a code, behind what each line has, and move its end."""
    for i in range(codes.size):
        end = ends[i]
        for k in range(offsets[codes[i]], offsets[codes[i] + 1]):
            out[end] = pieces[k]
            end += 1
        ends[i] = end

"""Walking the bytes of a CSV file: where its records start, and its escapes undone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.compiled import compiled

NONE = 256
"""Stands for a quote or escape character that the dialect does not have: no byte equals it."""

_NEWLINE = 10
_CARRIAGE_RETURN = 13
_FIELD_START, _IN_FIELD, _IN_QUOTES, _AFTER_QUOTE = 0, 1, 2, 3


@compiled
def line_states(
    data: npt.NDArray[np.uint8], lines: int, separator: int, quote: int, escape: int, inside: bool
) -> tuple[npt.NDArray[np.bool_], bool]:
    """For each line, whether it starts inside quotes; and whether the data end there.

    A quote opens only at the start of a field (anywhere else it is an ordinary character), and a doubled one
    stays inside, whatever the escape. `data` ends with a newline; `inside` says whether its first line starts
    inside quotes.
    """
    starts_inside = np.zeros(lines, np.bool_)
    state = _IN_QUOTES if inside else _FIELD_START
    starts_inside[0] = inside
    line = 0
    position = 0
    while position < data.size:
        byte = data[position]
        position += 1
        if state == _IN_QUOTES:
            if byte == escape and escape != quote:
                # The escaped byte is content, but a newline still starts a line.
                if position < data.size and data[position] != _NEWLINE:
                    position += 1
                continue
            if byte == quote:
                state = _AFTER_QUOTE
                continue
        elif (state == _AFTER_QUOTE and byte == quote) or (state == _FIELD_START and byte == quote):
            state = _IN_QUOTES
            continue
        elif byte == separator:
            state = _FIELD_START
            continue
        elif byte != _NEWLINE:
            state = _IN_FIELD
            continue
        if byte == _NEWLINE:
            line += 1
            if line < lines:
                starts_inside[line] = state == _IN_QUOTES
            if state != _IN_QUOTES:
                state = _FIELD_START
    return starts_inside, state == _IN_QUOTES


@compiled
def double_escaped_quotes(
    data: npt.NDArray[np.uint8], separator: int, quote: int, escape: int
) -> npt.NDArray[np.uint8]:
    r"""Rewrite escaped quotes as doubled ones, so that one parser reads every dialect.

    Inside quotes `\"` becomes `""` and `\\` becomes `\`; any other escaped character keeps its escape, so that
    no two different texts become one.
    """
    out = np.empty(data.size, np.uint8)
    size = 0
    state = _FIELD_START
    position = 0
    while position < data.size:
        byte = data[position]
        position += 1
        if state == _IN_QUOTES and byte == escape and position < data.size:
            following = data[position]
            if following == quote:
                out[size] = quote
                out[size + 1] = quote
                size += 2
                position += 1
                continue
            if following == escape:
                position += 1
        elif state == _IN_QUOTES:
            if byte == quote:
                state = _AFTER_QUOTE
        elif byte == quote and state != _IN_FIELD:
            state = _IN_QUOTES
        elif byte in (separator, _NEWLINE, _CARRIAGE_RETURN):
            state = _FIELD_START
        else:
            state = _IN_FIELD
        out[size] = byte
        size += 1
    return out[:size]

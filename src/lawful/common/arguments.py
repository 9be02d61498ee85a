"""Arguments of Python functions, each of the kind that it must be: what else is given is refused by its name."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Real
from typing import Any

from lawful.common.errors import ArgumentError


def whole_number(name: str, value: Any) -> int:
    """A whole number, such as one of NumPy; neither True nor 2.0 is one."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise _wrong(name, "a whole number", value)


def number(name: str, value: Any) -> float:
    """A number of any kind but true and false."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return value if isinstance(value, int | float) else float(value)
    raise _wrong(name, "a number", value)


def yes_or_no(name: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, bool):
        return value
    raise _wrong(name, "True or False", value)


def text(name: str, value: Any) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise _wrong(name, "a text", value)


def texts(name: str, value: Any) -> tuple[str, ...]:
    """One text or several."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        several = tuple(value)
        if all(isinstance(one, str) for one in several):
            return several
    raise _wrong(name, "a text or a list of texts", value)


def mapping(name: str, value: Any, example: str) -> Mapping[Any, Any]:
    """A dictionary or the like."""
    if isinstance(value, Mapping):
        return value
    raise _wrong(name, "a dictionary", value, f"Write {example}.")


def instance(name: str, value: Any, kind: type, example: str) -> Any:
    """A value of one class."""
    if isinstance(value, kind):
        return value
    raise _wrong(name, f"a {kind.__name__}", value, f"Write {example}.")


def function(name: str, value: Any) -> Callable[..., Any]:
    """Something that can be called."""
    if callable(value):
        found: Callable[..., Any] = value
        return found
    raise _wrong(name, "a function, such as print", value)


_OF_KIND: dict[type, Callable[[str, Any], Any]] = {
    int: whole_number,
    float: number,
    bool: yes_or_no,
    str: text,
    tuple: texts,
}


def of_kind(name: str, value: Any, kind: type) -> Any:
    """The value as one of a kind that has a check here; of other kinds as it is."""
    return _OF_KIND[kind](name, value) if kind in _OF_KIND else value


def unknown_argument(name: str, value: Any, function_name: str, known: Iterable[str]) -> ArgumentError:
    """The error for an argument that a function does not have."""
    names = list(known)
    close = get_close_matches(name, names, n=3)
    meant = f"Did you mean {' or '.join(close)}?" if close else f"It has {', '.join(names)}."
    if isinstance(value, Mapping):
        meant = f"Give what is in it as arguments of their own. {meant}"
    return ArgumentError(f"{function_name}() has no argument {name!r}", meant)


def _wrong(name: str, expected: str, value: Any, hint: str | None = None) -> ArgumentError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return ArgumentError(f"{name} must be {expected}, not {shown}", hint)

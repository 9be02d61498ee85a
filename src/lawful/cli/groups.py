"""Options that belong together, written once as a dataclass and given to every command that wants them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Spread the groups among a command's parameters into options: typer makes one of each parameter it sees."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            spread += _parameters(hints[name])
        else:
            spread.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{member.name: given.pop(member.name) for member in fields(group)})
        command(**given)

    called.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]  # typer reads it
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return called


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            member.name, inspect.Parameter.KEYWORD_ONLY, default=member.default, annotation=hints[member.name]
        )
        for member in fields(group)
    ]


def with_options(command: Callable[..., None], name: str, options: Sequence[inspect.Parameter]) -> Callable[..., None]:
    """Spread options that come from a table into a command, which gets their values by name in one mapping."""
    signature = inspect.signature(command)
    spread = [
        other
        for parameter in signature.parameters.values()
        for other in (options if parameter.name == name else [parameter])
    ]
    names = [option.name for option in options]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        given[name] = {option: given.pop(option) for option in names}
        command(**given)

    called.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]  # typer reads it
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return called

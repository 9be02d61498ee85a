"""Every error that lawful raises on purpose, and its warning.

One base class, so that callers can catch `LawfulError` and know that its message is written for a person:
what is wrong, where, and what to do about it. Errors cross process borders (Spark workers raise them on
another machine), so each keeps its arguments in `args` and survives pickling.
"""

from __future__ import annotations

EXIT_FINE = 0
EXIT_LAWS_BROKEN = 1
EXIT_BAD_INPUT = 2
EXIT_STOPPED = 3


class LawfulError(Exception):
    """The base: a message for a person, and optionally a hint that says what to do."""

    exit_code = EXIT_BAD_INPUT

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class LawfulWarning(UserWarning):
    """What a result leaves out, or a user should know of it, though nothing went wrong."""


class UsageError(LawfulError):
    """Options or arguments that do not fit together, or name something that is not there."""


class SourceError(LawfulError):
    """A source of rows that cannot be read as asked: names the file and, where it can, the line."""


class NotationError(LawfulError):
    """A law that cannot be parsed; `position` is the 0-based character in `text` where it goes wrong."""

    def __init__(self, message: str, hint: str | None = None, text: str = "", position: int = 0) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, text, position)
        self.text = text
        self.position = position


class DamagedTableError(LawfulError):
    """An encoded table whose files do not match their checksums or their format version."""


class DamagedStateError(LawfulError):
    """A state whose files do not match their checksums, their order or their format version."""


class StateInUseError(LawfulError):
    """A state that another process is writing to."""


class JavaNotFoundError(LawfulError):
    """Spark needs Java 17 or newer, and none was found."""


class EngineError(LawfulError):
    """A check that could not be run: the engine, a worker or the cluster failed, not the law."""


class StoppedError(LawfulError):
    """Work that ended before its end because of a limit or a request; what was found is kept."""

    exit_code = EXIT_STOPPED

"""Every error that lawful raises on purpose, and its warning.

One base class, so that callers can catch `LawfulError` and know that its message is written for a person:
what is wrong, where, and what to do about it. Errors cross process borders (Spark workers raise them on
another machine), so each keeps its arguments in `args` and survives pickling.
"""

from __future__ import annotations

from lawful.common.python_words import in_pythons_words

EXIT_FINE = 0
EXIT_LAWS_BROKEN = 1
EXIT_BAD_INPUT = 2
EXIT_STOPPED = 3


class LawfulError(Exception):
    """The base: a message for a person, and optionally a hint that says what to do.

    Both are written with the options of the command line, as `typed_message` and `typed_hint` have them; `message`,
    `hint` and the text of the error call these as Python does.
    """

    exit_code = EXIT_BAD_INPUT

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.typed_message = message
        self.typed_hint = hint

    @property
    def message(self) -> str:
        """What is wrong, and where."""
        return in_pythons_words(self.typed_message)

    @property
    def hint(self) -> str | None:
        """What to do about it, where there is something to say."""
        return None if self.typed_hint is None else in_pythons_words(self.typed_hint)

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class LawfulWarning(UserWarning):
    """What a result leaves out, or a user should know of it, though nothing went wrong.

    As an error does, it names options as they are typed in a terminal, and arguments when Python shows it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.typed_message = message

    def __str__(self) -> str:
        return in_pythons_words(self.typed_message)


class UsageError(LawfulError):
    """Options or arguments that do not fit together, or name something that is not there."""


class ArgumentError(UsageError, TypeError):
    """An argument of a Python function that it does not have, or that is of the wrong kind."""


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


class TooLargeError(EngineError):
    """Rows that have to be compared with each other are more than a task takes."""


class StoppedError(LawfulError):
    """Work that ended before its end because of a limit or a request; what was found is kept."""

    exit_code = EXIT_STOPPED

"""Watches that reach their limit without a clock."""

from __future__ import annotations

from lawful.discovery.questions import Watch


class EndsAtAnyLook(Watch):
    """Reaches its limit at the n-th look, in whatever thread."""

    def __init__(self, looks: int) -> None:
        super().__init__(1e9)
        self.left = looks

    def reason(self) -> str | None:
        self.left -= 1
        return "enough was looked" if self.left < 0 else None


class EndsWhenTold(Watch):
    """Reaches its limit once the search tells something with some words in it."""

    def __init__(self, words: str) -> None:
        super().__init__(1e9)
        self.words, self.is_over_now = words, False

    def tell(self, told: str) -> None:
        self.is_over_now |= self.words in told

    def reason(self) -> str | None:
        return self.words if self.is_over_now else None

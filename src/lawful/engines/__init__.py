"""Where checks run: one protocol, in this process or on Spark."""

from lawful.engines.protocol import Engine

__all__ = ["Engine"]

"""The lives of laws: from which batch to which each was valid, what broke it, and how reliable that makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.results.json_files import write_document
from lawful.results.texts.history_text import history_lines, history_summary
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_IN_A_NOTEBOOK = 100
_FIELDS = ("law", "kind", "pinned", "first", "last", "ended")
CHARTS = (".html", ".png", ".svg")


@dataclass(frozen=True)
class Span:
    """Versions in which a law was valid, both ends included; `last` is None if it still is.

    `ended` says how it ended: `broken` by rows, or `implied` by a smaller law, which says more.
    """

    first: int
    last: int | None = None
    ended: str | None = None


@dataclass(frozen=True)
class Life:
    """All that is known of one law.

    Attributes
    ----------
    law, kind
        The law in its notation, and its family.
    pinned
        Whether it is one of the pinned laws; those that are kept are told as long as they are minimal.
    spans
        When it was valid.
    errors
        For a pinned law, how many rows broke it after each batch that left it broken.
    """

    law: str
    kind: str
    pinned: bool
    spans: tuple[Span, ...]
    errors: Mapping[int, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether it is valid now."""
        return bool(self.spans) and self.spans[-1].last is None

    @property
    def breaks(self) -> int:
        """How often rows have broken it."""
        return sum(span.ended == "broken" for span in self.spans)

    @property
    def broke(self) -> int | None:
        """The version that broke it last."""
        ends = [span.last + 1 for span in self.spans if span.ended == "broken" and span.last is not None]
        return max(ends, default=None)

    def age(self, version: int) -> int:
        """For how many batches it has been valid until a version; 0 if it is not."""
        return version - self.spans[-1].first if self.holds else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "law": self.law,
            "kind": self.kind,
            "pinned": self.pinned,
            "holds": self.holds,
            "breaks": self.breaks,
            "valid": [{"from": span.first, "to": span.last, "ended": span.ended} for span in self.spans],
            "violating": {str(version): rows for version, rows in self.errors.items()},
        }


@dataclass(frozen=True)
class HistoryReport:
    """The lives of the laws of a state.

    Attributes
    ----------
    state, version
        The name of the table, and how many batches made it what it is.
    times
        When each version was made.
    lives
        The laws, pinned ones first, then the most reliable ones: valid now, seldom broken, old.
    """

    state: str
    version: int
    times: Mapping[int, str]
    lives: Sequence[Life]

    def __len__(self) -> int:
        return len(self.lives)

    def __iter__(self) -> Iterator[Life]:
        return iter(self.lives)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful history --json` prints."""
        return {
            "format": FORMAT,
            "state": self.state,
            "version": self.version,
            "times": {str(version): time for version, time in self.times.items()},
            "laws": [life.to_dict() for life in self.lives],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each span in which a law was valid."""
        return to_pandas(list(self._records()), _FIELDS)

    def save(self, path: str | Path) -> None:
        """Write the history: a chart (.html, .png, .svg), the spans (.parquet), or the document (.json)."""
        target = Path(path)
        if target.suffix in CHARTS:
            from lawful.results.history_chart import draw

            draw(self, target)
        elif target.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.Table.from_pylist(list(self._records()), _schema()), target)
        elif target.suffix == ".json":
            write_document(self.to_dict(), target)
        else:
            raise UsageError(
                f"cannot tell by its name what {target} should be", f"Use {', '.join(CHARTS)}, .parquet or .json."
            )

    def _records(self) -> Iterable[dict[str, Any]]:
        for life in self.lives:
            for span in life.spans:
                told = {"law": life.law, "kind": life.kind, "pinned": life.pinned}
                yield told | {"first": span.first, "last": span.last, "ended": span.ended}

    def __repr__(self) -> str:
        return f"<HistoryReport {visible(self.state)}: {history_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful history` prints, a page at most."""
        return plain_text(history_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        return html_table(f"{self.state}: {history_summary(self)}", list(self._records())[:_SHOWN_IN_A_NOTEBOOK])


def _schema() -> Any:
    import pyarrow as pa

    number, text = pa.int64(), pa.string()
    return pa.schema(
        [("law", text), ("kind", text), ("pinned", pa.bool_()), ("first", number), ("last", number), ("ended", text)]
    )

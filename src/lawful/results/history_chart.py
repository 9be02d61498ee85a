"""The lives of laws as a chart: a line for each, batches from left to right, and how badly pinned ones were broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.results.texts.history_text import history_summary
from lawful.results.texts.shown_text import visible

if TYPE_CHECKING:
    from lawful.results.history_report import HistoryReport, Life

Bar = dict[str, Any]

_MOST_LINES = 60
_LONGEST_LABEL = 80
_MOST_BARS = 640
_RED, _COLOURS = "#a50f15", ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#72b7b2", "#eeca3b", "#9d755d"]
"""What is broken, and what is valid: seven kinds of lines, none of them red."""


def draw(history: HistoryReport, target: Path) -> None:
    """Write a chart as HTML, PNG or SVG, as the name of the file says.

    Raises
    ------
    UsageError
        If there is no law, or the packages that draw are not installed.
    """
    if not history.lives:
        raise UsageError("there is no law to draw", "Leave out some of --kind, --column, --law and the like.")
    try:
        import altair as alt
    except ImportError as error:
        raise UsageError(f"charts need more packages: {error}", "Run: pip install 'lawful[report]'") from None
    lives = history.lives[:_MOST_LINES]
    labels = _labels(lives)
    batches = alt.Scale(domain=[0, history.version + 1], nice=False)
    x = alt.X("from:Q", title="batch", scale=batches, axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y("law:N", sort=labels, title=None, axis=alt.Axis(labelLimit=420))

    def layer(bars: Sequence[Bar], tooltip: Sequence[str], **looks: Any) -> Any:
        data = alt.Data(values=bars)  # type: ignore[no-untyped-call]  # altair leaves it untyped
        return alt.Chart(data).mark_bar(height=9).encode(x=x, x2="to:Q", y=y, tooltip=list(tooltip), **looks)

    kinds = alt.Color("laws:N", title=None, scale=alt.Scale(range=_COLOURS))
    layers = [layer(_valid_bars(lives, labels, history.version), ["law:N", "from:Q", "to:Q"], color=kinds)]
    broken = _broken_bars(lives, labels, history.version)
    if broken:
        rows = alt.Opacity("rows:Q", title="rows that break it", scale=alt.Scale(range=[0.4, 1.0]))
        layers.append(layer(broken, ["law:N", "from:Q", "rows:Q"], color=alt.value(_RED), opacity=rows))
    title = f"{visible(history.state)}: {history_summary(history)}"
    chart = alt.layer(*layers).properties(width=640, height=alt.Step(14), title=title)
    options: dict[str, Any] = {"inline": True} if target.suffix == ".html" else {"scale_factor": 2}
    chart.save(str(target), **(options if target.suffix != ".svg" else {}))


def _labels(lives: Sequence[Life]) -> list[str]:
    """A name for each line, no two alike: a law may be pinned and found, and long ones may begin alike."""
    labels: dict[str, None] = {}
    for life in lives:
        text = ("pinned " if life.pinned else "") + visible(life.law)[:_LONGEST_LABEL]
        labels[f"{text} ({len(labels) + 1})" if text in labels else text] = None
    return list(labels)


def _valid_bars(lives: Sequence[Life], labels: Sequence[str], version: int) -> list[Bar]:
    """A bar for each span in which a law was valid."""
    return [
        {
            "law": label,
            "from": span.first,
            "to": (version if span.last is None else span.last) + 1,
            "laws": "pinned" if life.pinned else life.kind,
        }
        for label, life in zip(labels, lives, strict=True)
        for span in life.spans
    ]


def _broken_bars(lives: Sequence[Life], labels: Sequence[str], version: int) -> list[Bar]:
    """A bar for each batch that left a pinned law broken; of a long history one for several, with the most rows."""
    step = -(-(version + 1) // _MOST_BARS)
    bars = []
    for label, life in zip(labels, lives, strict=True):
        most: dict[int, int] = {}
        for broken, rows in life.errors.items():
            most[broken // step] = max(rows, most.get(broken // step, 0))
        for number, rows in most.items():
            end = min((number + 1) * step, version + 1)
            bars.append({"law": label, "from": number * step, "to": end, "rows": rows})
    return bars

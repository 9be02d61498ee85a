"""How the pinned laws of a spread state fare: what was counted in each bucket, and two rows that break each law."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lawful.checks.law_checks import checks_of
from lawful.checks.workspace import Workspace
from lawful.dependencies import columns_of, format_law
from lawful.engines.spread.index import Tallies
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.tallies import ShownRow, Tally
from lawful.maintenance.applied import PinnedLaw
from lawful.maintenance.spread.document import SpreadDocument, Witness
from lawful.results.check_report import RowView
from lawful.tables.living.living_table import RowOrigins
from lawful.tables.living.text_rows import text_rows
from lawful.tables.spread.segments import parts_of

Again = Callable[[Collection[str]], Tallies]
"""Adds up the lines of some parts."""
Counts = Mapping[int, tuple[int, int]]
"""How many rows and pairs break a law, by bucket."""
_MOST_ASKED = 8
"""Parts that are looked through, in one job, for two rows that break a law; most parts know some."""


@dataclass(frozen=True)
class Recount:
    """What was counted anew of the laws with classes.

    Attributes
    ----------
    lost, found
        What breaks laws in the classes that were counted: before, and now.
    whole
        The parts of which all classes were counted.
    left
        The ids of the rows that have left.
    """

    lost: Tallies
    found: Tallies
    whole: Collection[str] = ()
    left: Set[int] = frozenset()


def with_tallies(document: SpreadDocument, laws: Sequence[KeptLaw], recount: Recount, again: Again) -> SpreadDocument:
    """A document after some classes were counted anew.

    `again` is asked about a few more parts where a law is still broken, and the two rows that were shown are no more:
    first about those of which no class was counted, since these may still know rows.
    """
    tallies = dict(document.tallies)
    witnesses = {number: each for number, each in document.witnesses.items() if number in document.ranges}
    for kept in laws:
        number, own = kept.number, recount.found.get(kept.number, {})
        counts = _moved(document.tallies.get(number, {}), recount.lost.get(number, {}), own)
        tallies[number] = counts
        if not counts:
            continue
        known = document.witnesses.get(number)
        if known is not None and (
            kept.part(known.bucket) in recount.whole or any(row.id in recount.left for row in known.rows)
        ):
            known = None
        known = known or _witness_of(document, kept, own)
        if known is None and (elsewhere := [b for b in counts if kept.part(b) not in recount.whole]):
            asked = sorted(elsewhere, key=lambda bucket: (bucket in own, bucket))[:_MOST_ASKED]
            known = _witness_of(document, kept, again({kept.part(bucket) for bucket in asked}).get(number, {}))
        if known is not None:
            witnesses[number] = known
    return replace(document, tallies=tallies, witnesses=witnesses)


def _moved(old: Counts, lost: Mapping[int, Tally], found: Mapping[int, Tally]) -> Counts:
    """The counts of all buckets after some of what they count has changed; those where nothing is broken have none."""
    counts = dict(old)
    for sign, tallies in ((-1, lost), (1, found)):
        for bucket, tally in tallies.items():
            rows, pairs = counts.get(bucket, (0, 0))
            counts[bucket] = rows + sign * tally.rows, pairs + sign * tally.pairs
    return {bucket: each for bucket, each in counts.items() if each[1]}


def known_tallies(document: SpreadDocument, laws: Sequence[KeptLaw], parts: Collection[str]) -> Tallies:
    """What a document says of some parts, as far as laws are broken there."""
    return {
        kept.number: {
            bucket: Tally(*counts)
            for bucket, counts in document.tallies.get(kept.number, {}).items()
            if kept.part(bucket) in parts
        }
        for kept in laws
    }


def stale_parts(before: SpreadDocument, after: SpreadDocument, laws: Sequence[KeptLaw]) -> set[str]:
    """The parts of laws that compare rows of classes by an order which a new type of a column has changed."""
    turned = {n for n, (old, new) in enumerate(zip(before.types, after.types, strict=True)) if old != new}
    stale = [kept for kept in laws if kept.shape == "classes" and turned & set(columns_of(kept.law))]
    heads = tuple(kept.part(0).partition("/")[0] + "/" for kept in stale)
    return {part for part in parts_of(before.index_segments) if part.startswith(heads)} if heads else set()


def _witness_of(document: SpreadDocument, kept: KeptLaw, own: Mapping[int, Tally]) -> Witness | None:
    for bucket in sorted(own):
        if (pair := own[bucket].witness) is not None:
            return Witness(bucket, oriented(document, kept, pair))
    return None


def oriented(document: SpreadDocument, kept: KeptLaw, pair: tuple[ShownRow, ShownRow]) -> tuple[ShownRow, ShownRow]:
    """The smaller id first, unless the law tells its two rows apart."""
    rows = sorted(pair, key=lambda row: row.id)
    columns = {
        column: pa.array([row.cells[place] for row in rows], pa.string()) for place, column in enumerate(kept.columns)
    }
    workspace = Workspace(text_rows(columns, document.types, len(rows)), document.settings.null)
    first, second = checks_of(kept.law).oriented(kept.law, (0, 1), workspace)
    return rows[first], rows[second]


_NO_ROWS: Mapping[int, Sequence[ShownRow]] = {}


def pinned_laws(
    document: SpreadDocument, held: Mapping[str, bool] | None = None, fresh: Mapping[int, Sequence[ShownRow]] = _NO_ROWS
) -> list[PinnedLaw]:
    """How each law fares; after a batch, whether it held before, and which rows of the batch break it."""
    names = [column.name for column in document.columns]
    found = []
    for number, law in enumerate(document.pins):
        text, counts = format_law(law, names), document.tallies.get(number, {}).values()
        pairs = sum(counted for _, counted in counts)
        if number in document.ranges:  # partners were counted, two for each pair
            pairs //= 2
        witness = document.witnesses.get(number)
        offenders = np.array([[row.id, _UNKNOWN] for row in fresh.get(number, ())], np.int64).reshape(-1, 2)
        found.append(
            PinnedLaw(
                text,
                not pairs,
                sum(rows for rows, _ in counts),
                None if witness is None else (witness.rows[0].id, witness.rows[1].id),
                pairs,
                None if held is None else held.get(text),
                offenders,
            )
        )
    return found


_UNKNOWN = -1
"""Stands for the row that a new row breaks a law with: indexes know that there is one, and not always which."""


def row_views(document: SpreadDocument, kept: KeptLaw, rows: Sequence[ShownRow], places: RowOrigins) -> list[RowView]:
    """Rows as people want to see them, with their values in the columns of a law."""
    names = [column.name for column in document.columns]
    found = []
    for row in rows:
        texts = dict(zip(kept.columns, row.cells, strict=True))
        values = {names[column]: texts[column] for column in columns_of(kept.law) if column in texts}
        found.append(RowView(row.id, places.place(row.id), values))
    return found


def witness_views(document: SpreadDocument, kept: KeptLaw, places: RowOrigins) -> tuple[RowView, RowView] | None:
    """Two rows that break a law, if it is broken and such are known."""
    witness = document.witnesses.get(kept.number)
    if witness is None:
        return None
    first, second = row_views(document, kept, witness.rows, places)
    return first, second

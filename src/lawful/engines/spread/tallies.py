"""What the lines of an index say: how many rows and pairs break each law in each bucket, and some of these rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import format_law
from lawful.engines.spread.class_checks import TALLIES, class_runner, in_classes
from lawful.engines.spread.kept_laws import KeptLaw, counted
from lawful.engines.spread.lines import added_up, is_counted, law_by_law
from lawful.tables.shuffled.data import functions_of
from lawful.tables.spark_errors import translated
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NUMBER = "decimal(38, 0)"
"""Pairs of rows are more than 64 bits count."""
_MOST_SUSPECTED = 10_000
"""So many classes are sent to all tasks, to be looked at alone."""
MOST_SHOWN = 10
"""So many of the rows of a batch that break a law are shown."""


class ShownRow(NamedTuple):
    """A row: its id, and its texts in the columns of a law (`KeptLaw.columns`)."""

    id: int
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class Tally:
    """How badly a law is broken in one bucket: rows, pairs, two of the rows, and some that came with a batch.

    Two rows are not known where the index has forgotten the ids of all that break the law.
    """

    rows: int = 0
    pairs: int = 0
    witness: tuple[ShownRow, ShownRow] | None = None
    fresh: tuple[ShownRow, ...] = ()

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        fresh = (self.fresh + other.fresh)[:MOST_SHOWN]
        return Tally(self.rows + other.rows, self.pairs + other.pairs, self.witness or other.witness, fresh)


def tallied(
    lines: DataFrame,
    laws: Sequence[KeptLaw],
    names: Sequence[str],
    types: Sequence[ColumnType],
    null: NullPolicy,
    first_new: int,
    fresh: str = "",
) -> dict[int, dict[int, Tally]]:
    """The tallies of the buckets that lines are of, by the number of the law; where nothing is broken there is none.

    Parameters
    ----------
    lines
        Lines of whole classes.
    names, types
        The columns of the table.
    first_new, fresh
        The first id of rows that came with a batch, and the name of its segment.
    """
    there = added_up(law_by_law(lines, laws, null), fresh)
    by_counts, checked = counted(laws), [kept for kept in laws if kept.shape == "classes"]
    frames = []
    if by_counts:
        frames.append(_counted(there.where(_among(by_counts)), by_counts))
    if checked:
        whole = in_classes(there.where(_among(checked)))
        frames.append(whole.mapInArrow(class_runner(checked, types, null, first_new, MOST_SHOWN), TALLIES))
    found: dict[int, dict[int, Tally]] = {kept.number: {} for kept in laws}
    with translated():
        for frame in frames:
            for row in frame.collect():
                if row["error"] is not None:
                    law = next(kept.law for kept in laws if kept.number == row["t"])
                    told = f"{format_law(law, names)} cannot be kept: {row['error']}"
                    raise UsageError(
                        told, "Nothing was changed. Leave it out, or pin one that compares more columns by =."
                    )
                own = found[row["t"]]
                own[row["bucket"]] = own.get(row["bucket"], Tally()).plus(_tally(row))
    return found


def suspected(lines: DataFrame, laws: Sequence[KeptLaw]) -> DataFrame:
    """Lines without those of laws that are clearly not broken, so that sums are made for few.

    A class of one line breaks no law but that no rows agree, and this only if it is of several rows. Where few classes
    are left, they alone are kept of the laws that are counted.
    """
    expr = functions_of(lines.sparkSession).expr
    of_counted = is_counted(laws)
    many = f"lines > 1 or n > 1 and {is_counted([kept for kept in laws if kept.shape == 'agree'])}"
    classes = lines.where(of_counted).groupBy("t", "key").agg(expr("count(*) as lines"), expr("sum(n) as n"))
    with translated():
        # By hashes, since texts may be long: at worst some classes more are kept.
        found = classes.where(many).selectExpr("xxhash64(t, key) as class").limit(_MOST_SUSPECTED + 1).toArrow()
        if found.num_rows > _MOST_SUSPECTED:
            return lines
        few = frame_of(lines.sparkSession, found).hint("broadcast")
        kept = lines.where(of_counted).selectExpr("*", "xxhash64(t, key) as class").join(few, "class", "left_semi")
        return kept.drop("class").unionByName(lines.where(f"not {of_counted}"))


def _among(laws: Iterable[KeptLaw]) -> str:
    return f"t in ({', '.join(str(kept.number) for kept in laws)})"


def _tally(row: Any) -> Tally:
    shown = [ShownRow(int(each["row"]), tuple(each["cells"])) for each in row["witness"] or ()]
    fresh = tuple(ShownRow(int(each["row"]), tuple(each["cells"])) for each in row["fresh"] or ())
    return Tally(int(row["rows"]), int(row["pairs"]), (shown[0], shown[1]) if shown else None, fresh)


def _counted(lines: DataFrame, laws: Sequence[KeptLaw]) -> DataFrame:
    """The tallies of laws that follow from how many rows a class has, and how many of each rest."""
    expr = functions_of(lines.sparkSession).expr
    agreeing = [kept for kept in laws if kept.shape == "agree"]
    is_agreeing = _among(agreeing) if agreeing else "false"
    same = f"sum(cast(n as {_NUMBER}) * if({is_agreeing}, 1, n)) as same"
    # The least and the greatest rest with a known row: two rows of these break the law; two of one if none may agree.
    classes = lines.groupBy("t", "bucket", "key").agg(
        expr("sum(n) as n"),
        expr(same),
        expr("min(struct(size(rows) = 0, rest, rows)) as low"),
        expr("max(struct(size(rows) > 0, rest, rows)) as high"),
        expr("flatten(collect_list(transform(fresh, id -> struct(id as row, rest)))) as fresh"),
    )
    broken = classes.where(f"cast(n as {_NUMBER}) * n > same")
    each = "named_struct('row', each.row, 'cells', concat(key, each.rest))"
    one, two = (f"named_struct('row', {row}, 'cells', concat(key, {rest}))" for row, rest in _WITNESS)
    is_known = (
        f"if({is_agreeing}, size(low.rows) > 1, size(low.rows) > 0 and size(high.rows) > 0 and low.rest != high.rest)"
    )
    told = broken.selectExpr(
        "t",
        "bucket",
        "n",
        f"cast((cast(n as {_NUMBER}) * n - same) / 2 as {_NUMBER}) as pairs",
        f"if({is_known}, array({one}, {two}), null) as witness",
        f"slice(transform(fresh, each -> {each}), 1, {MOST_SHOWN}) as fresh",
    )
    return told.groupBy("t", "bucket").agg(
        expr("sum(n) as rows"),
        expr("sum(pairs) as pairs"),
        expr("min(witness) as witness"),
        expr(f"slice(flatten(collect_list(fresh)), 1, {MOST_SHOWN}) as fresh"),
        expr("cast(null as string) as error"),
    )


_WITNESS = (
    ("low.rows[0]", "low.rest"),
    ("if(size(low.rows) > 1 and low.rest = high.rest, low.rows[1], high.rows[0])", "high.rest"),
)

"""What Spark's Python workers do while a table is encoded.

Two steps with one shuffle between them. The first parses or takes a part of the source and cuts it into
*pieces*: a run of rows of one column, dictionary-encoded. The second gets all pieces of a column, in any
order, and ranks them. Functions here import no Spark: they turn record batches into record batches.
"""

from __future__ import annotations

import contextlib
import io
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.errors import LawfulError
from lawful.common.meanings import ColumnType
from lawful.tables.csv_text import ParsedBlock
from lawful.tables.encoded_table import describe
from lawful.tables.files import unpacked_chunks
from lawful.tables.json_text import json_names
from lawful.tables.origins import runs_of_lines
from lawful.tables.ranking import NotConvertibleError, RankedColumn, dictionary_piece, rank_column
from lawful.tables.storage import write_column
from lawful.tables.text_blocks import BlockError, OpenQuoteError, TextBlock, without_byte_order_mark
from lawful.tables.text_layout import TextLayout, add_names

Batches = Iterable[pa.RecordBatch]
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

SURVEY = -1
"""The column number of rows that tell of a part of the source instead of holding a piece of a column."""

PIECES = "column int, file string, start bigint, part int, payload binary"
HEADS = "head binary"
RANKED = "column int, about string, ranks binary, column_values binary"
_PIECE_SCHEMA = pa.schema(
    [
        ("column", pa.int32()),
        ("file", pa.string()),
        ("start", pa.int64()),
        ("part", pa.int32()),
        ("payload", pa.binary()),
    ]
)
_RANKED_SCHEMA = pa.schema(
    [("column", pa.int32()), ("about", pa.string()), ("ranks", pa.binary()), ("column_values", pa.binary())]
)
_ROWS_A_PIECE = 1 << 18


@dataclass(frozen=True)
class Survey:
    """What a task saw in one part of the source: `lines` lines, `rows` rows, and what stopped it."""

    file: str
    start: int
    rows: int
    lines: int
    error: tuple[int, str, str | None] | None = None
    ends_inside_quotes: bool = False


def decoded_path(url: str) -> str:
    """The path that Spark's encoded file URL stands for; other file systems keep their scheme."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    return path if parts.scheme in ("", "file") else f"{parts.scheme}://{parts.netloc}{path}"


def text_parser(layout: TextLayout, transcoded_from: str | None = None) -> Task:
    """A task that parses lines (`line`, `file`, `start` of their split) into pieces.

    With `transcoded_from` its input are whole files in that encoding instead (`content`, `file`, `start`).
    """

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (file, start), chunks in splits_of(batches, transcoded_from):
            split = Split(layout, file, start, chunks)
            for part, parsed in split.blocks():
                yield _pieces(parsed.columns, file, start, part)
            yield _survey_batch(*split.survey())

    return parse


def head_finder(encoding: str) -> Task:
    """A task that gives the first lines of whole files in some encoding, as UTF-8."""

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, chunks in splits_of(batches, encoding):
            yield pa.RecordBatch.from_pydict({"head": pa.array([next(chunks, b"")], pa.binary())})

    return find


def json_name_finder(encoding: str, transcoded_from: str | None = None) -> Task:
    """A task that lists the names in JSON lines, as `name` rows in order, with the first error as a survey."""

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (file, start), chunks in splits_of(batches, transcoded_from):
            line, names, error = 1, dict[str, set[str]](), None
            try:
                for chunk in chunks:
                    add_names(names, json_names(TextBlock(chunk, line), encoding))
                    line += chunk.count(b"\n")
            except BlockError as found:
                error = (found.line, found.message, found.hint)
            survey = Survey(file, start, 0, line - 1, error)
            kinds = {name: sorted(found) for name, found in names.items()}
            yield _piece_batch([(SURVEY, file, start, 0, json.dumps([asdict(survey), kinds]).encode())])

    return find


def splits_of(
    batches: Batches, transcoded_from: str | None = None
) -> Iterator[tuple[tuple[str, int], Iterator[bytes]]]:
    """The lines of each split of a file, as chunks of bytes that end in a newline."""
    if transcoded_from is not None:
        yield from _whole_files(batches, transcoded_from)
        return

    def chunks() -> Iterator[tuple[tuple[str, int], bytes]]:
        for batch in batches:
            lines, files, starts = batch.columns
            cuts = _changes(files, starts)
            for first, last in pairwise(cuts):
                key = (decoded_path(files[first].as_py()), starts[first].as_py())
                yield key, b"\n".join(lines.slice(first, last - first).to_pylist()) + b"\n"

    for key, chunk_group in groupby(chunks(), key=itemgetter(0)):
        split = map(itemgetter(1), chunk_group)
        yield key, without_byte_order_mark(split) if key[1] == 0 else split


def _whole_files(batches: Batches, encoding: str) -> Iterator[tuple[tuple[str, int], Iterator[bytes]]]:
    for batch in batches:
        contents, files, _ = batch.columns
        for content, file in zip(contents, files, strict=True):
            name, data = decoded_path(file.as_py()), content.as_py()
            yield (name, 0), unpacked_chunks(io.BytesIO(data), name, len(data), encoding, newline_bytes=False)


def _changes(files: pa.Array, starts: pa.Array) -> list[int]:
    """Where a new split begins among the lines of a batch, with both ends."""
    if len(starts) == 0:
        return [0]
    codes = files.dictionary_encode().indices.to_numpy()
    numbers = starts.to_numpy()
    changes = np.flatnonzero((codes[1:] != codes[:-1]) | (numbers[1:] != numbers[:-1])) + 1
    return [0, *changes.tolist(), len(starts)]


class Split:
    """One split of a file while it is parsed. It is taken to start outside of quotes: the driver checks that later."""

    def __init__(self, layout: TextLayout, file: str, start: int, chunks: Iterator[bytes]) -> None:
        self._layout, self._file, self._start, self._chunks = layout, file, start, chunks
        self._lines = self.rows = 0
        self._runs: list[npt.NDArray[np.int64]] = []
        self._error: BlockError | None = None

    def blocks(self) -> Iterator[tuple[int, ParsedBlock]]:
        """The numbered blocks of the split; the first error ends them."""
        part = 0
        try:
            for block in self._layout.blocks(self._counted()):
                whole = self._layout.begin_file(block) if self._start == 0 and part == 0 else block
                if whole is not None:
                    parsed = self._layout.parse(whole)
                    yield part, parsed
                    runs = runs_of_lines(parsed.lines)
                    runs[:, 0] += self.rows
                    self._runs.append(runs)
                    self.rows += parsed.rows
                part += 1
        except BlockError as found:
            self._error = found

    def survey(self) -> tuple[Survey, npt.NDArray[np.int64]]:
        """What was seen of the split, once its blocks are parsed, and the runs of its rows."""
        for _ in self._counted():  # an error leaves lines behind, and the splits after this one need their count
            pass
        found = self._error
        error = None if found is None else (found.line, found.message, found.hint)
        survey = Survey(self._file, self._start, self.rows, self._lines, error, isinstance(found, OpenQuoteError))
        return survey, np.concatenate(self._runs) if self._runs else np.zeros((0, 2), np.int64)

    def _counted(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._lines += chunk.count(b"\n")
            yield chunk


def row_parser(has_files: bool) -> Task:
    """A task that cuts typed rows into pieces.

    The last two columns of its input tell where a row is from: a file and the row's number in it, or nothing
    and the number of the Spark partition.
    """

    def cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = 0
        for table in gathered(batches):
            files, numbers = table.column(table.num_columns - 2), table.column(table.num_columns - 1)
            cuts = _changes(files.combine_chunks(), pa.nulls(len(files), pa.int64()).fill_null(0))
            for first, last in pairwise(cuts):
                rows = table.slice(first, last - first)
                file = decoded_path(files[first].as_py()) if has_files else ""
                start = numbers[first].as_py()
                columns = [dictionary_piece(column.combine_chunks()) for column in rows.columns[:-2]]
                yield _pieces(columns, file, start, part)
                runs = np.zeros((0, 2), np.int64)
                if has_files:
                    runs = runs_of_lines(rows.column(rows.num_columns - 1).to_numpy() + 1)
                yield _survey_batch(Survey(file, start, rows.num_rows, 0), runs, part)
                part += 1

    return cut


def gathered(batches: Batches) -> Iterator[pa.Table]:
    """Small batches put together: a dictionary pays only over many rows."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_A_PIECE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _pieces(columns: Sequence[pa.DictionaryArray], file: str, start: int, part: int) -> pa.RecordBatch:
    return _piece_batch([(position, file, start, part, _to_bytes(column)) for position, column in enumerate(columns)])


def _survey_batch(survey: Survey, runs: npt.NDArray[np.int64], part: int = 0) -> pa.RecordBatch:
    payload = survey_text(survey).encode() + b"\n" + runs_bytes(runs)
    return _piece_batch([(SURVEY, survey.file, survey.start, part, payload)])


def survey_text(survey: Survey) -> str:
    """A survey as one line of text."""
    return json.dumps(asdict(survey))


def runs_bytes(runs: npt.NDArray[np.int64]) -> bytes:
    """Runs of rows as bytes."""
    return np.ascontiguousarray(runs, "<i8").tobytes()


def read_survey(payload: bytes) -> tuple[Survey, npt.NDArray[np.int64]]:
    """Read what a task wrote of its part, and the runs of its rows."""
    about, _, runs = payload.partition(b"\n")
    return read_survey_text(about), read_runs(runs)


def read_survey_text(text: str | bytes) -> Survey:
    """Read what `survey_text` wrote."""
    fields = json.loads(text)
    fields["error"] = None if fields["error"] is None else tuple(fields["error"])
    return Survey(**fields)


def read_runs(payload: bytes) -> npt.NDArray[np.int64]:
    """Read what `runs_bytes` wrote."""
    return np.frombuffer(payload, "<i8").reshape(-1, 2).astype(np.int64)


def _piece_batch(rows: list[tuple[int, str, int, int, bytes]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(values, type_) for values, type_ in zip(zip(*rows, strict=True), _PIECE_SCHEMA.types, strict=True)],
        schema=_PIECE_SCHEMA,
    )


def _to_bytes(column: pa.DictionaryArray) -> bytes:
    """A piece as an Arrow stream, its codes as narrow as its dictionary allows."""
    size = len(column.dictionary)
    narrow = pa.int8() if size < 128 else pa.int16() if size < 32_768 else pa.int32()
    piece = pa.DictionaryArray.from_arrays(pc.cast(column.indices, narrow), column.dictionary)
    batch = pa.RecordBatch.from_arrays([piece], ["piece"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _from_bytes(payload: bytes) -> pa.DictionaryArray:
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_all().column(0).combine_chunks()


@dataclass(frozen=True)
class RankPlan:
    """How the second step ranks: the names and chosen types of the columns, and where the results go.

    `folder` is the driver's. A worker that sees the `token` in it shares a file system with the driver and
    writes there; any other sends the bytes back through Spark.
    """

    names: tuple[str, ...]
    asked: tuple[ColumnType | None, ...]
    is_text: bool
    is_json: bool
    limit: int | None
    folder: str
    token: str

    def rank(self, position: int, pieces: Sequence[pa.DictionaryArray]) -> RankedColumn:
        """Rank one column from its pieces in row order."""
        return rank_column(
            pieces, asked=self.asked[position], is_text=self.is_text, is_json=self.is_json, limit=self.limit
        )


TOKEN_FILE = "token"


def ranker(plan: RankPlan) -> Task:
    """A task that ranks whole columns and passes surveys on."""

    def rank(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces: dict[int, list[tuple[tuple[str, int, int], bytes]]] = defaultdict(list)
        for batch in batches:
            for column, file, start, part, payload in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                if column == SURVEY:
                    yield _ranked_batch(SURVEY, {"start": start, "part": part}, payload, None)
                else:
                    pieces[column].append(((file, start, part), payload))
        for column in sorted(pieces):
            ordered = sorted(pieces.pop(column), key=itemgetter(0))
            yield _rank_one(plan, column, [_from_bytes(payload) for _, payload in ordered])

    return rank


def _rank_one(plan: RankPlan, position: int, pieces: list[pa.DictionaryArray]) -> pa.RecordBatch:
    try:
        ranked = plan.rank(position, pieces)
    except NotConvertibleError as error:
        return _ranked_batch(position, {"not_convertible": [error.row, error.text]}, None, None)
    except LawfulError as error:
        return _ranked_batch(position, {"error": str(error)}, None, None)
    about: dict[str, Any] = {
        "column": describe(plan.names[position], ranked).to_dict(),
        "rows": len(ranked.ranks),
    }
    folder = Path(plan.folder)
    if _sees(folder, plan.token):
        suffix = f".{uuid.uuid4().hex}"
        about["suffix"] = suffix
        about["files"] = [asdict(file) for file in write_column(folder, position, ranked, suffix)]
        return _ranked_batch(position, about, None, None)
    sink = pa.BufferOutputStream()
    table = pa.table({"value": ranked.values})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return _ranked_batch(position, about, ranked.ranks.tobytes(), bytes(sink.getvalue()))


def _sees(folder: Path, token: str) -> bool:
    with contextlib.suppress(OSError):
        return (folder / TOKEN_FILE).read_text("utf-8") == token
    return False


def _ranked_batch(column: int, about: dict[str, Any], ranks: bytes | None, values: bytes | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([value], type_)
            for value, type_ in zip((column, json.dumps(about), ranks, values), _RANKED_SCHEMA.types, strict=True)
        ],
        schema=_RANKED_SCHEMA,
    )

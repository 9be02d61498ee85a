"""What Spark's workers do, without Spark: parts of a source in any order give the columns of the whole."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lawful.tables.options import CsvDialect
from lawful.tables.spark_tasks import (
    SURVEY,
    TOKEN_FILE,
    RankPlan,
    decoded_path,
    ranker,
    read_survey,
    row_parser,
    text_parser,
)
from lawful.tables.storage import checksum
from lawful.tables.text_layout import TextLayout
from tables.text_oracle import rank_texts

LAYOUT = TextLayout("csv", CsvDialect(header=False), ("a", "b"), (0, 1))
Part = tuple[str, int, list[str]]


@st.composite
def parts_of_files(draw: st.DrawFn) -> list[Part]:
    """Splits of files: their file, where they start in it, and their lines."""
    parts = []
    for file in ("/t/a.csv", "/t/b c.csv", "/t/\u00fc.csv"):
        start = 0
        for _ in range(draw(st.integers(0, 3))):
            lines = draw(st.lists(st.sampled_from(["1,x", "10,y", "9,", ",z", "2,x", ""]), min_size=1, max_size=5))
            parts.append((file, start, lines))
            start += sum(len(line) + 1 for line in lines)
    return parts


def batch_of(part: Part) -> pa.RecordBatch:
    file, start, lines = part
    url = "file://" + file.replace(" ", "%20").replace("\u00fc", "%C3%BC")
    return pa.record_batch(
        {
            "line": pa.array([line.encode() for line in lines], pa.binary()),
            "file": [url] * len(lines),
            "start": pa.array([start] * len(lines), pa.int64()),
        }
    )


def shuffled(batches: list[pa.RecordBatch], order: Any) -> list[pa.RecordBatch]:
    rows = [batch.slice(row, 1) for batch in batches for row in range(batch.num_rows)]
    order.shuffle(rows)
    return rows


@given(parts_of_files(), st.randoms(use_true_random=False), st.booleans())
def test_pieces_in_any_order_are_ranked_in_the_order_of_the_source(
    parts: list[Part], order: Any, shares_files: bool
) -> None:
    pieces = [piece for part in parts for piece in text_parser(LAYOUT)(iter([batch_of(part)]))]
    cells = [line.split(",") for _, _, lines in parts for line in lines if line]
    with tempfile.TemporaryDirectory() as folder:
        token = "the token" if shares_files else "another token"
        (Path(folder) / TOKEN_FILE).write_text("the token")
        for name in ("ranks", "values"):
            (Path(folder) / name).mkdir()
        plan = RankPlan(("a", "b"), (None, None), True, False, None, folder, token)
        answers = pa.Table.from_batches(ranker(plan)(iter(shuffled(pieces, order)))).to_pylist() if pieces else []
        ranks = {answer["column"]: ranks_in(answer, folder) for answer in answers if answer["column"] != SURVEY}
    surveys = [read_survey(answer["ranks"]) for answer in answers if answer["column"] == SURVEY]
    assert sum(survey.rows for survey, _ in surveys) == len(cells)
    assert {survey.file for survey, _ in surveys} == {file for file, _, _ in parts}
    for position in (0, 1) if parts else ():
        column = [row[position] or None for row in cells]
        assert ranks[position] == rank_texts(column)[1]


def ranks_in(answer: dict[str, Any], folder: str) -> list[int]:
    """The ranks of a column, from the file that the worker wrote or from its answer."""
    about = json.loads(answer["about"])
    if "files" not in about:
        assert list(Path(folder).rglob("*.npy*")) == []
        return np.frombuffer(answer["ranks"], np.int32).tolist()
    file = about["files"][0]
    path = Path(folder) / (file["name"] + about["suffix"])
    assert checksum(path.read_bytes()) == file["crc32"]
    with path.open("rb") as stream:
        ranks: list[int] = np.load(stream).tolist()
    return ranks


def test_rows_of_several_files_in_one_task() -> None:
    batch = pa.record_batch(
        {
            "c0": ["x", "y", "x", None],
            "file": ["file:///t/a%2520.parquet", "file:///t/a%2520.parquet", "file:///t/b", "file:///t/b"],
            "start": pa.array([5, 6, 0, 1], pa.int64()),
        }
    )
    rows = pa.Table.from_batches(row_parser(has_files=True)(iter([batch]))).to_pylist()
    surveys = [read_survey(row["payload"]) for row in rows if row["column"] == SURVEY]
    assert [(survey.file, survey.start, survey.rows) for survey, _ in surveys] == [
        ("/t/a%20.parquet", 5, 2),
        ("/t/b", 0, 2),
    ]
    assert [runs.tolist() for _, runs in surveys] == [[[0, 6]], [[0, 1]]]


def test_paths_of_spark() -> None:
    assert decoded_path("file:///a%20b/c%2520d%23.csv") == "/a b/c%20d#.csv"
    assert decoded_path("s3a://bucket/a%20b.csv") == "s3a://bucket/a b.csv"
    assert decoded_path("/plain/path.csv") == "/plain/path.csv"

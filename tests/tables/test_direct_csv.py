"""The straight way from a CSV file to ranks against the general one: the same table wherever both can read it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lawful.errors import LawfulError
from lawful.meanings import ColumnType
from lawful.tables import cell_kernels, direct_csv, local_pipeline
from lawful.tables.direct_csv import rank_directly
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions
from tables.looking import everything_of
from tables.text_strategies import text_columns

many = settings(deadline=None, max_examples=300)
assert cell_kernels  # small files are read directly only where the compiler is loaded


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("direct") / "table.csv"


def outcome(file: Path, options: ReadOptions, *, is_general: bool) -> dict[str, Any] | str:
    """Everything of the encoded table, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        if is_general:
            patch.setattr(local_pipeline, "rank_directly", lambda *_: None)
        try:
            return everything_of(encode_in_process(file, options, reuse=False))
        except LawfulError as error:
            return str(error)


def both_ways(file: Path, data: bytes, **dialect: Any) -> None:
    file.write_bytes(data)
    options = ReadOptions(format="csv", dialect=CsvDialect(**dialect))
    assert outcome(file, options, is_general=False) == outcome(file, options, is_general=True)


def is_read_directly(file: Path, data: bytes, **dialect: Any) -> bool:
    file.write_bytes(data)
    return rank_directly(file, file, ReadOptions(format="csv", dialect=CsvDialect(**dialect))) is not None


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """Columns of texts of all kinds, written by Python, with or without needless quotes."""
    rows = draw(st.integers(0, 9))
    columns = draw(st.lists(text_columns(rows=rows), min_size=1, max_size=4))
    out = io.StringIO(newline="")
    end = draw(st.sampled_from(["\n", "\r\n"]))
    writer = csv.writer(out, lineterminator=end, quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])))
    writer.writerow([f"name {position}" for position in range(len(columns))])
    writer.writerows(zip(*columns, strict=True))
    text = out.getvalue()
    text = text[: -len(end)] if draw(st.booleans()) else text
    return (text + draw(st.sampled_from(["", "", end, end + end]))).encode()


@many
@given(csv_files(), st.sampled_from([(), ("x",), ("1", "true", "1", "")]), st.booleans())
def test_any_table_is_the_same_both_ways(file: Path, data: bytes, null_tokens: tuple[str, ...], header: bool) -> None:
    both_ways(file, data, null_tokens=null_tokens, header=header)


@many
@given(st.text(st.sampled_from('ab01,;."\n\r\n-é\\ '), max_size=40), st.sampled_from(['"', None, "'"]))
@example("a,b\n1", '"')
@example('a,b\n"1,2"\n', '"')
@example("a\n\n1\n\n\n", '"')
@example('a,b\n"x""y",2\n', '"')
@example('a,b\n"x"y,2\n', '"')
@example("a,b\r\n1,2\r\n", '"')
@example("a,b\n1,2\n\n3,4\n", '"')
def test_any_text_is_the_same_both_ways(file: Path, text: str, quote: str | None) -> None:
    both_ways(file, text.encode(), quote=quote, escape=quote)


@many
@given(st.lists(st.text("ab\x00\U0001f600é", min_size=1, max_size=12), max_size=60))
def test_long_texts_that_begin_alike_are_sorted_to_their_ends(file: Path, texts: list[str]) -> None:
    both_ways(file, "".join(["name\n", *(f"x1234567{text}\n" for text in texts)]).encode())


@many
@given(st.lists(st.integers(0, 3000).map(lambda number: f"{number % 700}a{number:>9}"), max_size=2500))
def test_many_distinct_texts_find_their_own_codes(file: Path, texts: list[str]) -> None:
    both_ways(file, "".join(["name,of\n", *(f"{text},{len(text)}\n" for text in texts)]).encode())


def test_threads_share_a_larger_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_csv, "_WORTH_THREADS", 64)
    monkeypatch.setattr(direct_csv, "cores", lambda: 3)
    lines = [f"{number % 97},{number * 7919 % 1009 / 8},text {number % 50}" for number in range(500)]
    data = "\n".join(["a,b,c", *lines]).encode()
    assert is_read_directly(file, data)
    both_ways(file, data)
    both_ways(file, data + b"\n\n")
    both_ways(file, data.replace(b"\n7,", b"\n\n7,"))  # a blank line in a part that is not the last


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,2\n",
        b"\xef\xbb\xbfa,b\r\n1,2",
        'a,b\n"x, y",é\n'.encode(),
        b"a\n\n1\n",  # one column: a blank line is an empty cell
        b"a,b\n1,2\n\n\n",
        b"a,b\n",
        b"a,b",
        b'"a","b, c"\r\n1,2\n',
        b'"a ""x""",b\n1,2\n',
    ],
)
def test_plain_files_are_read_directly(file: Path, data: bytes) -> None:
    assert is_read_directly(file, data)


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,2\n3\n",
        b"a,b\n1,2,3\n",
        b'a,b\n"x\ny",2\n',
        b'a,b\n"x""y",2\n',
        b"a,b\n1,2\n\n3,4\n",
        b"a,b\nx\ry,2\n",
        b"a,b\n\xff,2\n",
        b"a,a\n1,2\n",
        b"\na,b\n1,2\n",
        b'"a\nx",b\n1,2\n',
    ],
)
def test_unusual_files_are_left_to_the_general_way(file: Path, data: bytes) -> None:
    assert not is_read_directly(file, data)


def test_digits_after_a_zero_are_text(file: Path) -> None:
    data = b"zip,none,big,signed\n01234,,1234567890123456789012,-01\n00501,,2,-2\n"
    assert is_read_directly(file, data)
    both_ways(file, data)
    table: EncodedTable = encode_in_process(file, ReadOptions(), reuse=False)
    assert [table.type(position) for position in range(2)] == [ColumnType.STRING, ColumnType.NULL]


def test_chosen_columns_come_in_the_order_of_the_choice(file: Path) -> None:
    file.write_bytes(b"a,b,c\n3,x,1.5\n1,y,1.50\n")
    options = ReadOptions(format="csv", columns=("c", "a"))
    assert rank_directly(file, file, options) is not None
    table: EncodedTable = encode_in_process(file, options, reuse=False)
    assert table.names == ["c", "a"]
    assert [table.column(position).tolist() for position in range(2)] == [[1, 1], [2, 1]]
    assert outcome(file, options, is_general=False) == outcome(file, options, is_general=True)


def test_the_matrix_has_the_ranks_of_every_column(file: Path) -> None:
    file.write_bytes(b"number,date,text,nothing\n3,2024-05-01,x,\n1,2023-01-31,,\n3,2024-05-01,y,\n")
    table: EncodedTable = encode_in_process(file, ReadOptions(), reuse=False)
    assert table.matrix is not None
    assert not table.matrix.flags.writeable
    assert table.matrix.tolist() == [[2, 1, 2], [2, 1, 2], [1, 0, 2], [0, 0, 0]]
    for position, ranks in enumerate(table.matrix):
        assert np.array_equal(table.column(position), ranks)
        assert not table.column(position).flags.writeable

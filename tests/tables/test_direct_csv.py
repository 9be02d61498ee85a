"""The straight way from a CSV file to ranks against the general one: the same table wherever both can read it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.common.errors import LawfulError, SourceError
from lawful.common.meanings import ColumnType
from lawful.tables import direct_csv, local_pipeline
from lawful.tables.direct_csv import rank_directly
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions
from tables.looking import cells_of, everything_of
from tables.text_strategies import text_columns


@pytest.fixture(autouse=True, scope="module")
def small_files_too() -> Iterator[None]:
    """Else it would take megabytes to see anything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct_csv, "_SMALLEST_FILE", 1)
        yield


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
    return rank_directly(str(file), file, ReadOptions(format="csv", dialect=CsvDialect(**dialect))) is not None


@st.composite
def csv_files(draw: st.DrawFn) -> tuple[bytes, str]:
    """Columns of texts of all kinds, written by Python, with or without needless quotes; and the escape character."""
    rows = draw(st.integers(0, 9))
    columns = draw(st.lists(text_columns(rows=rows), min_size=1, max_size=4))
    out = io.StringIO(newline="")
    end = draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    is_doubled = draw(st.booleans())
    escape = None if is_doubled else "\\"
    writer = csv.writer(out, lineterminator=end, quoting=quoting, doublequote=is_doubled, escapechar=escape)
    writer.writerow([f"name {position}" for position in range(len(columns))])
    writer.writerows(zip(*columns, strict=True))
    text = out.getvalue()
    text = text[: -len(end)] if draw(st.booleans()) else text
    return (text + draw(st.sampled_from(["", "", end, end + end]))).encode(), escape or '"'


@given(csv_files(), st.sampled_from([(), ("x",), ("1", "true", "1", "")]), st.booleans())
def test_any_table_is_the_same_both_ways(
    file: Path, written: tuple[bytes, str], null_tokens: tuple[str, ...], header: bool
) -> None:
    data, escape = written
    both_ways(file, data, null_tokens=null_tokens, header=header, escape=escape)


_QUOTED_PARTS = [
    '\\"', '""', "\\\\", "\\", '"', ",", "\\,", "\n", "\\\n", "\r", "é", "1", "b", "!", "#", "]", "long text",
]  # fmt: skip


@st.composite
def quoted_records(draw: st.DrawFn) -> str:
    """Records of one width, mostly, of quoted cells with everything in them that a reader can trip over."""
    parts = draw(st.lists(st.sampled_from(_QUOTED_PARTS), min_size=1, max_size=6, unique=True))
    cells = st.lists(st.sampled_from(parts), max_size=5).map(lambda inside: f'"{"".join(inside)}"')
    cells |= st.sampled_from(["", "1", "x", "\\", '\\"', 'x"', "x\\"])
    width = draw(st.integers(1, 3))
    records = draw(st.lists(st.lists(cells, min_size=width, max_size=width).map(",".join), min_size=1, max_size=8))
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
    return end.join(["a,b,c"[: 2 * width - 1], *records, ""])


@given(
    quoted_records(), st.sampled_from(['"', "\\", None, "b"]), st.sampled_from([(), ('"', "\\", 'b"')]), st.booleans()
)
@example('a"b,"c\nd",e\n1,2\n', '"', (), True)  # an even number of quotes, and the header goes on
@example('"a\\"\nb",c\n1,2\n', "\\", (), True)
def test_any_quoted_cells_are_the_same_both_ways(
    file: Path, text: str, escape: str | None, null_tokens: tuple[str, ...], header: bool
) -> None:
    both_ways(file, text.encode(), escape=escape, null_tokens=null_tokens, header=header)


@given(st.text(st.sampled_from('ab01,;."\n\r\n-é\\ '), max_size=40), st.sampled_from(['"', None, "'"]), st.booleans())
@example("a,b\n1", '"', False)
@example('a,b\n"1,2"\n', '"', False)
@example("a\n\n1\n\n\n", '"', False)
@example('a,b\n"x""y",2\n', '"', False)
@example('a,b\n"x"y,2\n', '"', False)
@example("a,b\r\n1,2\r\n", '"', False)
@example("a,b\n1,2\n\n3,4\n", '"', False)
def test_any_text_is_the_same_both_ways(file: Path, text: str, quote: str | None, escapes: bool) -> None:
    both_ways(file, text.encode(), quote=quote, escape="\\" if escapes else quote)


@given(st.lists(st.text("ab\x00\U0001f600é", min_size=1, max_size=12), max_size=60))
def test_long_texts_that_begin_alike_are_sorted_to_their_ends(file: Path, texts: list[str]) -> None:
    both_ways(file, "".join(["name\n", *(f"x1234567{text}\n" for text in texts)]).encode())


@given(st.integers(0, 2**32), st.sampled_from(["", "a", "street number ", "\x00" * 9]))
def test_many_texts_that_begin_alike_are_sorted_to_their_ends(file: Path, seed: int, beginning: str) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 24, 700)
    texts = [beginning + "".join(rng.choice(["a", "b", "\x00", "é"], size)) for size in sizes]
    both_ways(file, "".join(["name,of\n", *(f"x{text},1\n" for text in texts)]).encode())


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
    both_ways(file, data.replace(b"text 7", b'"text ""7"""'))
    both_ways(file, data.replace(b"text ", b"2024-05-"))  # a type that the general rules find


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
        b'a,b\n"x""y",2\n',
        b'a,b\n"x"y",2\n',  # behind the closing quote a quote is text like any other
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
        b'a,b\n"x""\ny",2\n',
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


def test_a_file_is_in_the_encoding_that_was_said(file: Path) -> None:
    data = "a,b\né,1\n".encode()
    assert is_read_directly(file, data)
    both_ways(file, data)
    assert not is_read_directly(file, data, encoding="ascii")
    both_ways(file, data, encoding="ascii")


def test_quotes_inside_quoted_cells_are_sorted_as_what_they_stand_for(file: Path) -> None:
    escaped = [
        r'"a\"b"',
        r'"a\"\"b"',
        r'"a\\b"',
        r'"a\b"',
        '"a!b"',
        '"a#b"',
        '"a""b"',
        '"a\\""',
        r'"\\"',
        "a\\",
        '"a"\\b',
    ]
    texts = ['a"b', 'a""b', "a\\b", "a\\b", "a!b", "a#b", 'a"b', 'a"', "\\", "a\\", "a\\b"]
    data = "\n".join(["name,number", *(f"{cell},1" for cell in escaped)]).encode()
    assert is_read_directly(file, data, escape="\\")
    both_ways(file, data, escape="\\")
    table: EncodedTable = encode_in_process(file, ReadOptions(dialect=CsvDialect(escape="\\")), reuse=False)
    assert [row[0] for row in cells_of(table)] == texts
    places = {text: place for place, text in enumerate(sorted(set(texts)), 1)}
    assert table.column(0).tolist() == [places[text] for text in texts]


def test_digits_after_a_zero_are_text(file: Path) -> None:
    data = b"zip,none,big,signed\n01234,,1234567890123456789012,-01\n00501,,2,-2\n"
    assert is_read_directly(file, data)
    both_ways(file, data)
    table: EncodedTable = encode_in_process(file, ReadOptions(), reuse=False)
    assert [table.type(position) for position in range(2)] == [ColumnType.STRING, ColumnType.NULL]


def test_chosen_columns_come_in_the_order_of_the_choice(file: Path) -> None:
    file.write_bytes(b"a,b,c\n3,x,1.5\n1,y,1.50\n")
    options = ReadOptions(format="csv", columns=("c", "a"))
    assert rank_directly(str(file), file, options) is not None
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


def test_a_pipe_is_not_waited_for(file: Path) -> None:
    pipe = file.with_name("pipe.csv")
    os.mkfifo(pipe)
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        encode_in_process(pipe, ReadOptions(), reuse=False)


def test_a_path_is_shown_as_it_is_mostly_written(file: Path) -> None:
    file.write_bytes(b"a,b\n1,2\n")
    for written in (f"{file.parent}/./{file.name}", f"{file.parent}//{file.name}", str(file), file):
        table: EncodedTable = encode_in_process(written, ReadOptions(), reuse=False)
        assert table.matrix is not None
        assert (table.name, str(table.place(0))) == (file.name, f"{file}, line 2")


def test_a_file_is_read_directly_where_that_is_worth_loading_the_compiler(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"a,b\n" + b"1,2\n" * 100
    monkeypatch.setattr(direct_csv, "_SMALLEST_FILE", len(data))
    assert is_read_directly(file, data)
    assert not is_read_directly(file, data[:-4])
    monkeypatch.setattr(direct_csv, "_LARGEST_FILE", len(data))
    assert is_read_directly(file, data)
    assert not is_read_directly(file, data + b"1,2\n")

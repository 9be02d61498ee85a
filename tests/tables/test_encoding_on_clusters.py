"""Encoding where driver, server and workers are processes of their own: every source gives the table of one process."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import EVERY_KIND, Cluster

from lawful.tables.options import CsvDialect
from tables.conftest import encode_locally
from tables.looking import cells_of, ranks_of

SCRIPT = """
import json
import sys

from clusters import answer, open_session

from lawful.common.errors import LawfulError
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.spark_pipeline import encode_on_spark

with open_session() as spark:
    answers = []
    for source, encoding in json.loads(sys.argv[1]):
        try:
            table = encode_on_spark(spark, source, ReadOptions(dialect=CsvDialect(encoding=encoding)))
        except LawfulError as error:
            answers.append(str(error))
            continue
        ranks = [table.column(position).tolist() for position in range(table.width)]
        cells = [[table.value(row, position) for position in range(table.width)] for row in range(table.rows)]
        places = [str(table.place(row)) for row in range(table.rows)]
        answers.append([table.names, [column.type for column in table.columns], ranks, cells, places])
    answer(answers)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_source(tmp_path: Path, cluster_of: Callable[[str], Cluster], kind: str) -> None:
    folder = tmp_path / "a folder, 100% [odd]"
    (folder / "csv").mkdir(parents=True)
    (folder / "csv/0.csv.gz").write_bytes(gzip.compress(b""))
    (folder / "csv/1.csv").write_bytes(b'\xef\xbb\xbf"a\nb",c\n1,"x\ny"\n\n2,z\n')
    (folder / "csv/2.csv.gz").write_bytes(gzip.compress(b'"a\nb",c\n10,\n'))
    (folder / "wide.csv").write_bytes("k,l\n\u00e9,2\ne,10\n".encode("utf-16"))
    (folder / "lines.jsonl").write_bytes(b'{"a": 1}\n\n{"b": "x"}\n')
    (folder / "broken.csv").write_bytes(b"a,b\n1,2\n1\n")
    pq.write_table(pa.table({"n": [3, 1, 2], "s": ["x", None, "y"]}), folder / "t.parquet")
    sources = [("csv", "utf-8"), ("wide.csv", "utf-16"), ("lines.jsonl", "utf-8"), ("t.parquet", "utf-8")]
    asked = [(str(folder / name), encoding) for name, encoding in [*sources, ("broken.csv", "utf-8")]]
    *tables, broken = cluster_of(kind).run(SCRIPT, json.dumps(asked))
    for (source, encoding), found in zip(asked, tables, strict=False):
        here = encode_locally(source, dialect=CsvDialect(encoding=encoding), reuse=False)
        types = [column.type.value for column in here.columns]
        places = [str(here.place(row)) for row in range(here.rows)]
        assert found == [here.names, types, ranks_of(here), cells_of(here), places]
    assert broken.startswith(f"{folder / 'broken.csv'}, line 3: has 1 cells where 2 were expected")

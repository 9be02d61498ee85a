"""A process that encodes tables on request, for tests that run several at once or kill one on its way.

It answers every line of its input, a path, with the checksums of the ranks and where the table is. Given the
word `forever` and a path, it encodes that path over and over, and says so each time it begins. Given the word
`holding`, it goes on using the tables that it was asked for.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lawful.tables.encoded_table import EncodedTable, checksum
from lawful.tables.kept_tables import discard
from lawful.tables.options import ReadOptions


def encoder() -> Any:
    if "spark" in sys.argv:
        from lawful.engines.session import spark_session
        from lawful.tables.spark_pipeline import encode_on_spark

        spark = spark_session(master="local[2]", driver_memory="1g").spark
        return lambda path: encode_on_spark(spark, path, ReadOptions())
    from lawful.tables.local_pipeline import encode_in_process

    return lambda path: encode_in_process(path, ReadOptions())


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def digest(table: EncodedTable) -> dict[str, Any]:
    ranks = [checksum(table.column(position).tobytes()) for position in range(table.width)]
    return {"ranks": ranks, "place": str(table.place(table.rows - 1)), "folder": str(table.folder)}


def main() -> None:
    encode = encoder()
    tell(ready=True)
    if "forever" in sys.argv:
        while True:
            table = encode(sys.argv[-1])
            assert table.folder is not None
            discard(table.folder)
            tell(begins=True)
    held = []
    for line in sys.stdin:
        table = encode(line.rstrip("\n"))
        tell(**digest(table))
        if "holding" in sys.argv:
            held.append(table)
        del table


if __name__ == "__main__":
    main()

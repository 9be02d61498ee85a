"""Run by a Python that has psycopg2: make a table, run queries on it, and tell how many rows each gives.

Reads {"url", "table", "names", "types", "rows", "queries"} from standard input. With `keep` the table stays.
"""

import json
import sys

import psycopg2
from psycopg2.extras import execute_values

given = json.load(sys.stdin)


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'.replace("%", "%%")


with psycopg2.connect(given["url"]) as connection, connection.cursor() as cursor:
    table = quoted(given["table"])
    columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in zip(given["names"], given["types"], strict=True))
    cursor.execute(f"DROP TABLE IF EXISTS {table}", ())
    cursor.execute(f"CREATE TABLE {table} ({columns})", ())
    if given["rows"]:
        execute_values(cursor, f"INSERT INTO {table} VALUES %s", given["rows"])
    told = []
    for query in given["queries"]:
        cursor.execute(query)  # without arguments, per cent signs mean themselves
        told.append(len(cursor.fetchall()))
print("\n" + json.dumps(told))

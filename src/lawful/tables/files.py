"""Finding the files of a source, telling their format, and reading their bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from lawful.common.errors import SourceError, UsageError
from lawful.tables.options import ReadOptions
from lawful.tables.text_blocks import LONGEST_RECORD, BlockError, without_byte_order_mark

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_CHUNK = 4 << 20
_SMALLEST_CHUNK, _CHUNKS_OF_A_FILE = 64 << 10, 16
# A file that unpacks to more than this many times its size, and to more than a gigabyte, is an attack.
_MOST_EXPANSION = 500
_HARMLESS_SIZE = 1 << 30


def _open_zip(packed: IO[bytes], _: str) -> Any:
    """The one file of a zip archive; what else programs put in is passed over."""
    archive = zipfile.ZipFile(packed)
    members = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_hidden_member(entry.filename)]
    if len(members) != 1:
        raise BlockError(0, f"holds {len(members)} files, and a table is one", "Unpack it and give the folder.")
    if members[0].flag_bits & _ENCRYPTED:
        raise BlockError(0, "is encrypted", "Unpack it first.")
    return archive.open(members[0])


def _is_hidden_member(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in Path(name).parts)


def _open_zstd(packed: IO[bytes], _: str) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd")


_ENCRYPTED = 1
_COMPRESSED: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".zip": _open_zip,
    ".zst": _open_zstd,
    ".zstd": _open_zstd,
}
_UNPACKED_BY_SPARK = (".gz", ".bz2")


def list_files(path: Path) -> list[Path]:
    """The data files of a path, sorted by name: itself, or what lies in the folder and is not hidden."""
    if path.is_file():
        return [path]
    if not path.exists():
        raise SourceError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        raise SourceError(f"{path}: is neither a file nor a folder")
    found = sorted(
        (entry for entry in path.rglob("*") if entry.is_file() and not _is_hidden(entry.relative_to(path))),
        key=str,
    )
    if not found:
        raise SourceError(f"{path}: the folder has no data files", "Names that start with . or _ are passed over.")
    return found


def _is_hidden(relative: Path) -> bool:
    return any(is_hidden_name(part) for part in relative.parts)


def is_hidden_name(name: str) -> bool:
    """Whether Spark passes over files and folders of this name: `_x=1` is a partition and no hidden folder."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def format_of(names: list[str], options: ReadOptions, where: str) -> str:
    """The format that was asked for, or the one that the names of the files tell."""
    if options.format is not None:
        return options.format
    formats = {_SUFFIXES.get(_suffix(name)) for name in names}
    if len(formats) == 1 and (only := formats.pop()) is not None:
        return only
    odd = next((name for name in names if _SUFFIXES.get(_suffix(name)) is None), None)
    problem = f"cannot tell the format of {Path(odd).name}" if odd else "the folder mixes formats"
    raise SourceError(f"{where}: {problem}", "Say it with --format csv, parquet or jsonl.")


def _suffix(name: str) -> str:
    stem, dot, suffix = name.lower().rpartition(".")
    if dot + suffix in _COMPRESSED:
        _, dot, suffix = stem.rpartition(".")
    return dot + suffix


def is_packed(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.suffix.lower() in _COMPRESSED


def spark_unpacks(name: str) -> bool:
    """Whether Spark can read a file of this name as text, unpacking it if it is packed."""
    suffix = Path(name).suffix.lower()
    return suffix not in _COMPRESSED or suffix in _UNPACKED_BY_SPARK


@contextmanager
def opened_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read its plain bytes, unpacked as its name tells."""
    with path.open("rb") as packed:
        unpack = _COMPRESSED.get(path.suffix.lower())
        yield packed if unpack is None else unpack(packed, "rb")


def opened_to_write(path: Path) -> IO[bytes]:
    """Open a file to write plain bytes, which are packed as its name tells."""
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED and suffix not in _UNPACKED_BY_SPARK:
        raise UsageError(f"cannot write {path}: files are packed as .gz or .bz2 only", "Choose another name.")
    opened: IO[bytes] = _COMPRESSED[suffix](path, "wb") if suffix in _COMPRESSED else path.open("wb")
    return opened


def read_chunks(path: Path, encoding: str, *, newline_bytes: bool) -> Iterator[bytes]:
    """The bytes of a file, unpacked, in chunks that end in a newline (see `unpacked_chunks`)."""
    try:
        with path.open("rb") as packed:
            yield from unpacked_chunks(packed, str(path), path.stat().st_size, encoding, newline_bytes=newline_bytes)
    except OSError as error:
        raise _unreadable(error) from None


def unpacked_chunks(
    packed: IO[bytes], name: str, packed_size: int, encoding: str, *, newline_bytes: bool
) -> Iterator[bytes]:
    """The bytes of an open file, unpacked as its name tells, in chunks that end in a newline.

    Encodings whose bytes cannot be cut at newlines (UTF-16) are turned into UTF-8 on the way.

    Raises
    ------
    BlockError
        Where the file cannot be unpacked, decoded or held in memory; at line 0 where it is the whole file.
    """
    unpack = _COMPRESSED.get(Path(name).suffix.lower())
    try:
        raw = _bounded(packed if unpack is None else unpack(packed, "rb"), packed_size)
        chunks = _ending_in_newlines(raw if newline_bytes else _transcoded(raw, encoding))
        yield from without_byte_order_mark(chunks)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, pa.ArrowException) as error:
        raise _unreadable(error) from None


def _unreadable(error: BaseException) -> BlockError:
    return BlockError(0, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _bounded(stream: IO[bytes], packed_size: int) -> Iterator[bytes]:
    total = 0
    size = min(_CHUNK, max(_SMALLEST_CHUNK, packed_size // _CHUNKS_OF_A_FILE))
    while chunk := stream.read(size):
        total += len(chunk)
        if total > _HARMLESS_SIZE and total > _MOST_EXPANSION * packed_size:
            raise BlockError(
                0,
                f"unpacks to more than {_MOST_EXPANSION} times its size",
                "Unpack it by hand if it is yours.",
            )
        yield chunk


def _transcoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for chunk, is_last in _with_last(chunks):
        try:
            text = decoder.decode(chunk, is_last)
        except UnicodeDecodeError as error:
            # The decoder may hold bytes of the chunk before; what stands before the error decodes.
            good = max(error.start - (len(error.object) - len(chunk)), 0)
            line += decoder.decode(chunk[:good]).count("\n")
            raise BlockError(
                line,
                f"not {encoding} text: {error.reason}",
                "Say how the file is encoded, for example --encoding utf-8.",
            ) from None
        line += text.count("\n")
        yield text.encode("utf-8")


def _with_last(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    previous: bytes | None = None
    for chunk in chunks:
        if previous is not None:
            yield previous, False
        previous = chunk
    if previous is not None:
        yield previous, True


def _ending_in_newlines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    size = 0
    line = 1
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            rest.append(chunk)
            size += len(chunk)
            if size > LONGEST_RECORD:
                raise BlockError(
                    line,
                    f"is longer than {LONGEST_RECORD >> 20} MiB",
                    "Is this a text file whose lines end in a newline?",
                )
            continue
        whole = b"".join((*rest, chunk[:cut]))
        line += whole.count(b"\n")
        yield whole
        rest = [chunk[cut:]] if cut < len(chunk) else []
        size = len(chunk) - cut
    if rest:
        yield b"".join((*rest, b"\n"))

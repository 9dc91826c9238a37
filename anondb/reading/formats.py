"""The format of a file, by its extension and its first bytes, and its text as plain UTF-8."""

import gzip
import hashlib
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from anondb.engine.elsewhere import warehouse_at
from anondb.errors import InputError
from anondb.reading.options import Reading, as_read

_BY_SUFFIX = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".psv", ".tree"), "text"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".sqlite", ".sqlite3"), "sqlite"),
    ".dat": "dat",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
CHUNK = 1 << 20
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_BY_CONTENT = {b"PAR1": "parquet", b"PK\x03\x04": "xlsx", b"SQLite format 3\0": "sqlite"}
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
MARK = "\ufeff"  # the byte order mark
_HIGH = bytes(range(0x80, 0x100))
SUFFIXES = tuple(suffix for suffix in _BY_SUFFIX if suffix != ".tree")


@dataclass(frozen=True)
class Format:
    """The format of a file."""

    name: str  # ``text``, ``dat``, ``json``, ``parquet``, ``xlsx`` or ``sqlite``
    suffix: str  # its extension in lower case, without that of the compression
    compression: str | None = None  # ``gzip``, ``zstd``, or None


def suffix_of(name: str | Path) -> str:
    """The extension of a file in lower case, without that of a compression and without what it says of its reading."""
    path = Path(as_read(name).data)
    return Path(path.stem if path.suffix.lower() in _COMPRESSED else path.name).suffix.lower()


def stem_of(path: Path) -> str:
    """The name of a file without its extensions, which is the name of the table that it holds."""
    path = Path(as_read(path).data)
    return Path(path.stem).stem if path.suffix.lower() in _COMPRESSED else path.stem


def is_data_file(name: str | Path) -> bool:
    """Whether a name is that of a data file by its extension or, if that says nothing, by what the file holds; or the URL of
    data in a warehouse (``warehouse_at``)."""
    if suffix_of(name) in SUFFIXES or warehouse_at(name) is not None:
        return True
    path = Path(as_read(name).data)
    if path.suffix.lower() in (".duckdb", ".ddb", "") or not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(4096)
    text = bool(start) and b"\0" not in start and start[8:12] != b"DUCK"
    return text or any(start.startswith(magic) for magic in (*_BY_CONTENT, *_MAGIC))


def format_of(path: Path, name: str) -> Format:
    """The format of a file. What its first bytes say holds for binary formats, its extension for texts. Raises InputError:
    ``no_such_file``; ``bad_file``: its extension and its content disagree."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        raise InputError(f"The {name} does not exist.", code="no_such_file", hint="Check the path.") from None
    except (OSError, ValueError):
        raise unreadable(name) from None
    compression = next((c for magic, c in _MAGIC.items() if start.startswith(magic)), None)
    suffix = suffix_of(path)
    named = _BY_SUFFIX.get(suffix, "text")
    if compression is None and path.suffix.lower() in _COMPRESSED and start:
        raise _disagrees(name, path.suffix)
    if start.startswith(b"PK\x03\x04") and suffix != ".xlsx":
        raise InputError(f"The {name} is an archive.", code="bad_file", hint="Unpack it.")
    holds = next((f for magic, f in _BY_CONTENT.items() if start.startswith(magic)), None)
    if holds is None and (named in _BY_CONTENT.values() or start[8:12] == b"DUCK"):
        raise _disagrees(name, suffix)
    return Format(holds or named, suffix, compression)


def unreadable(name: str) -> InputError:
    """The error for a file that the system does not let us read."""
    return InputError(f"The {name} cannot be read.", code="no_such_file", hint="Check the path and its permissions.")


def _disagrees(name: str, suffix: str) -> InputError:
    return InputError(f"The {name} is no {suffix or 'text'} file.", code="unreadable", hint="Give it its right extension.")


def digest_of(path: Path) -> tuple[str, int]:
    """The SHA-256 of a file as it lies on disk, and its size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


@contextmanager
def decompressed(path: Path, compression: str | None) -> Iterator[IO[bytes]]:
    """The bytes of a file without its compression. Raises InputError: ``unreadable``: it is damaged."""
    try:
        if compression == "zstd":
            import pyarrow as pa

            opened: Any = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        else:
            opened = (gzip.GzipFile if compression == "gzip" else open)(path, "rb")
        with opened as stream:
            yield stream
    except (OSError, EOFError, zlib.error):
        if compression is None:
            raise
        words = f"file {path.name!r} cannot be decompressed: it is damaged."
        raise InputError(words, code="unreadable", hint="Get it again.") from None


def encoded(path: Path, form: Format, reading: Reading) -> Reading:
    """How a text file is read: not in the encoding that is named for it and others if its bytes show that it is UTF-8. They
    do so if they are valid UTF-8 beyond ASCII, and texts of that encoding never look so: each of its bytes beyond ASCII is a
    letter or a mark of its own, as in Latin-1, or it writes ASCII otherwise, as UTF-16, whose texts have zero bytes."""
    if reading.encoding is None:
        return reading
    try:
        decoder, ascii_only = getincrementaldecoder("utf-8")(), "a".encode(reading.encoding) == b"a"
        if ascii_only and len(_HIGH.decode(reading.encoding, "replace")) != len(_HIGH):
            return reading
        with decompressed(path, form.compression) as stream:
            while block := stream.read(CHUNK):
                decoder.decode(block)
                if b"\0" in block:
                    return reading
                ascii_only = ascii_only and block.isascii()
            decoder.decode(b"", final=True)
    except UnicodeError:
        return reading
    return reading if ascii_only else replace(reading, encoding=None)


def plain_text(path: Path, form: Format, reading: Reading, private: Path, name: str) -> Path:
    """The file itself if it is plain UTF-8, else a copy in a private directory that is: decompressed, decoded, without the
    byte order mark, and without the lines that the owner skips. Raises InputError: ``bad_unicode`` with the line;
    ``bad_file`` if it cannot be decompressed."""
    with path.open("rb") as file:
        marked = file.read(3) == MARK.encode()
    utf8 = reading.encoding is None
    if form.compression is None and utf8 and not marked and not reading.skip:
        return path
    target = private / f"{len(list(private.iterdir()))}.txt"
    decoder = getincrementaldecoder(reading.encoding or "utf-8")()
    mark, lines, skip = MARK, 0, reading.skip or 0
    try:
        with decompressed(path, form.compression) as stream, target.open("x", encoding="utf-8", newline="") as copy:
            while block := stream.read(CHUNK):
                text = decoder.decode(block)
                text, mark = text.removeprefix(mark), "" if text else mark
                lines += text.count("\n")
                *skipped, text = text.split("\n", skip)
                skip -= len(skipped)
                copy.write("" if skip else text)
            copy.write(decoder.decode(b"", final=True))
        if skip:
            raise InputError(f"{name} has fewer lines than are to be skipped.", code="bad_parameter", hint="Lower --skip.")
    except UnicodeError as error:
        raise not_utf8(name, error, lines, reading.encoding) from None
    return target


def not_utf8(name: str, error: UnicodeError, lines: int = 0, encoding: str | None = None) -> InputError:
    """The error for a text file in another encoding than is said, where a part after some lines could not be decoded."""
    lines += error.object[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0
    return InputError(
        f"{name} is not valid {encoding or 'UTF-8'}: line {lines + 1} is not.",
        code="bad_unicode",
        hint="Name its encoding, such as --encoding latin-1, or utf-16 if its first two bytes are FF FE or FE FF.",
    )

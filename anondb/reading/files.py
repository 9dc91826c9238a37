"""Opens a file as a query over rows of texts (Parquet: over its columns), with the account of what it holds."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from anondb.engine import Engine, Query, query_of
from anondb.engine.spill import private_block
from anondb.engine.texts import Sql, listed, literal, quoted, sql
from anondb.errors import InputError
from anondb.reading.account import Account
from anondb.reading.cells import rewritten
from anondb.reading.dialect import (
    BY_SUFFIX,
    ITEM_END,
    dialect_of,
    distinct_names,
    looks_like_spmf,
    sample_of,
    wide_encoding_of,
    write_baskets,
)
from anondb.reading.formats import MARK, Format, decompressed, digest_of, encoded, format_of, plain_text, unreadable
from anondb.reading.options import DETECTED, OF_LINES, Dialect, Reading
from anondb.reading.shape import Survey, count_records, counted, records, survey

_WRITTEN = Dialect(",", '"', "\n", header=False)  # of a file that ``rewritten`` makes
NO_VALUE = ("", "\\N")  # without quotes: no value; the second is that of MySQL and PostgreSQL
_ENDS = {"\n": "\\n", "\r\n": "\\r\\n", "\r": "\\r"}  # as DuckDB names them


@dataclass(frozen=True, eq=False, repr=False)
class FileRows:
    """An open file."""

    query: Query  # selects its rows
    account: Account  # what it holds, without what comes of its rows
    columns: Mapping[str, str] | None  # the types of its columns; None if the file declares them
    faults: Mapping[str, str] = field(default_factory=dict)  # columns that cannot be used, with the reason
    # counts the records again, if DuckDB does not read them: names the line that is wrong
    again: Callable[[], object] = tuple


@contextlib.contextmanager
def open_file(engine: Engine, path: Path, role: str, reading: Reading) -> Iterator[FileRows]:
    """Open a file of any format, or a plain copy of it, for the duration of the block; ``role`` is what it is, such as
    ``transactions``, ``reading`` what the owner says of it. Raises InputError: the file does not exist, or is not what it is
    read as (``anondb.reading``)."""
    name = f"file {path.name!r}"
    with private_block(engine.spill_directory) as private:
        try:
            form = format_of(path, f"{role} {name}")
            reading.check_for(form.name)
            rows = _opened(path, form, reading, private, name, Account(path.name, role, dialect=form.name))
            if not rows.account.sha256:
                digest, size = digest_of(path)
                rows = replace(rows, account=replace(rows.account, sha256=digest, bytes=size))
        except OSError:
            raise unreadable(f"{role} {name}") from None
        try:
            yield rows
        except InputError as error:
            if error.code == "unreadable":
                rows.again()
            raise


def _opened(path: Path, form: Format, reading: Reading, private: Path, name: str, account: Account) -> FileRows:
    if form.name == "parquet":
        return _parquet(path, name, account)
    if form.name not in ("text", "dat"):
        target, columns, number, faults = rewritten(path, form, reading, private, name)
        if not columns:
            raise _empty(account)
        query = _rectangle(target, columns, _WRITTEN, survey(target, name, ","), number)
        account = replace(account, header=form.name != "xlsx" or reading.header is not False, rows=number)
        return FileRows(query, account, dict.fromkeys(columns, "VARCHAR"), faults)
    reading = encoded(path, form, reading)
    plain, skipped = plain_text(path, form, reading, private, name), reading.skip or 0
    if encoding := wide_encoding_of(sample_of(plain)):
        hint = f"If it is a text file, name its encoding: --encoding {encoding}."
        raise InputError(f"{name} is no text in UTF-8: its first line has many zero bytes.", code="bad_unicode", hint=hint)
    # the layout of a file in which a line is a person, and why
    layout, reason = reading.layout if reading.layout in OF_LINES else None, None
    if reading.layout is None and looks_like_spmf(plain):
        layout, reason = "spmf", "its lines are those of SPMF"
    elif reading.layout is None and form.name == "dat":
        layout, reason = "basket", "a .dat file has the items of a person on each line"
    account = replace(account, encoding=reading.encoding or "utf-8", layout=layout, reason=reason)
    if layout is not None:
        target, of_fimi = private / "baskets", form.name == "dat" and reading.delimiter is None and layout == "basket"
        account = replace(account, lines=survey(plain, name).lines + skipped, header=bool(reading.header))
        how, number = write_baskets(plain, layout, of_fimi, reading, target, name)
        content = Query(sql("SELECT content FROM read_text({})", file_name(target)))
        query = query_of("transactions/baskets", {"file": content})
        return FileRows(query, replace(account, dialect=how, rows=number), {"tid": "BIGINT", "item": "VARCHAR[]"})
    dialect, names = dialect_of(plain, reading, form.suffix, name)
    if not names:
        raise _empty(account)
    seen = survey(plain, name, dialect.delimiter, dialect.quote)
    columns = distinct_names(names, name, f" (read as: {dialect.words})")
    filled, empty, lines = count_records(plain, dialect, len(columns), name, seen)
    if plain == path:
        account = replace(account, sha256=seen.sha256, bytes=seen.bytes)
    account = replace(account, lines=lines + skipped, header=dialect.header, dialect=dialect)
    account = replace(account, empty=empty, rows=filled - dialect.header)
    query = _rectangle(plain, columns, dialect, seen, filled + empty)
    again = partial(counted, plain, dialect, len(columns), name)
    return FileRows(query, account, dict.fromkeys(columns, "VARCHAR"), again=again)


def _empty(account: Account) -> InputError:
    return InputError(f"The {account.role} file {account.file!r} is empty.", code="empty_file", hint="Is it the right file?")


def _parquet(path: Path, name: str, account: Account) -> FileRows:
    import pyarrow.parquet

    try:
        number = pyarrow.parquet.read_metadata(path).num_rows
        names = pyarrow.parquet.read_schema(path).names
    except (OSError, ValueError):
        raise InputError(f"{name} is damaged.", code="unreadable") from None
    distinct_names(names, name)  # DuckDB renames the second of two that differ by case
    query = Query(sql("SELECT * FROM read_parquet({}, hive_partitioning = FALSE)", file_name(path)))
    return FileRows(query, replace(account, header=True, rows=number), None)


def _rectangle(path: Path, columns: tuple[str, ...], dialect: Dialect, seen: Survey, records: int) -> Query:
    """A SELECT over a plain text file with a dialect that is fixed; nothing is detected, skipped or converted."""
    codes = [f"c{i}" for i in range(len(columns))]
    quote = dialect.quote or ""
    options: dict[str, bool | str | int] = {
        "auto_detect": False,
        "delim": dialect.delimiter or ITEM_END,
        "quote": quote,
        "escape": quote,
        "header": dialect.header,
        "comment": "",
        "allow_quoted_nulls": False,
    }
    # strict, DuckDB refuses carriage returns in quotes
    if seen.returns and not (seen.one_end and seen.lines == records):
        options |= {"strict_mode": False, "new_line": _ENDS[dialect.newline]}
    if seen.long_lines:
        with path.open("rb") as file:
            longest = max(map(len, file))
        options |= {"max_line_size": 2 * longest, "buffer_size": 4 * longest}
    settings = {name: literal(value) for name, value in {**options, "nullstr": list(NO_VALUE[: len(codes)])}.items()}
    settings["columns"] = sql("{{{}}}", listed(f"'{code}': 'VARCHAR'" for code in codes))
    written = listed(f"{name} = {value}" for name, value in settings.items())
    named = listed(f"{code} AS {quoted(name)}" for code, name in zip(codes, columns, strict=True))
    # an empty line, which DuckDB takes for a row without a value
    where = Sql(f" WHERE {codes[0]} IS NOT NULL" if len(codes) == 1 else "")
    return Query(sql("SELECT {} FROM read_csv({}, {}){}", named, file_name(path), written, where))


def file_name(path: Path) -> str:
    """A file name for DuckDB's readers, escaped because they expand patterns and ~."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute()))


def beside(path: Path, role: str, named: Reading) -> Reading:
    """How a file beside the transactions is read, if the owner says nothing of it: in their encoding, and with the delimiter
    and the quote that are named for them if its first line has them (the delimiter or, if none is named, the quote) and its
    extension says no other. Raises InputError: ``no_such_file``."""
    mark = named.delimiter or (named.quote and named.quote_char)
    reading = replace(DETECTED, encoding=named.encoding)
    if reading == DETECTED and not mark:
        return reading
    form = format_of(path, f"{role} file {path.name!r}")
    if form.name not in ("text", "dat", "json"):
        return DETECTED
    if form.name == "text" and form.suffix not in BY_SUFFIX and mark and mark in first_line(path, reading, role):
        reading = replace(reading, delimiter=named.delimiter, quote=named.quote)
    return reading


def first_line(path: Path, reading: Reading, role: str) -> str:
    """The first line of a text file; bytes that are not in its encoding are replaced. Raises InputError:
    ``no_such_file``."""
    form = format_of(path, f"{role} file {path.name!r}")
    reading = encoded(path, form, reading)
    with decompressed(path, form.compression) as stream:
        text = stream.read(1 << 16).decode(reading.encoding or "utf-8", errors="replace")
    return text.removeprefix(MARK).partition("\n")[0]


def text_records(
    engine: Engine, path: Path, role: str, reading: Reading, dialect: Dialect
) -> tuple[Account, list[list[str]]]:
    """The account and the records of a text file, which may have different numbers of fields; no empty lines."""
    name = f"file {path.name!r}"
    form = format_of(path, f"{role} {name}")
    reading = encoded(path, form, reading)
    with private_block(engine.spill_directory) as private:
        plain = plain_text(path, form, reading, private, name)
        read = [record for _, record, _ in records(plain, dialect, name)]
        number = survey(plain, name).lines + (reading.skip or 0)
    rows = [record for record in read if record]
    account = Account(path.name, role, *digest_of(path), number, dialect=dialect, encoding=reading.encoding or "utf-8")
    return replace(account, empty=len(read) - len(rows), rows=len(rows)), rows

"""Opens a file as a query over rows of texts (Parquet: over its columns), with the account of what it holds."""

import contextlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.engine import Engine, load
from anondb.engine.binding import nulls
from anondb.engine.spill import private_directory
from anondb.errors import InputError
from anondb.reading import baskets
from anondb.reading.account import Account
from anondb.reading.cells import rewritten
from anondb.reading.dialect import basket_delimiter, dialect_of
from anondb.reading.formats import Format, decompressed, digest_of, format_of, plain_text
from anondb.reading.options import Dialect, Reading
from anondb.reading.shape import (
    Lines,
    Survey,
    count_records,
    counted,
    first_invalid,
    lines_of,
    not_utf8,
    records,
    survey,
)

_WRITTEN = Dialect(",", '"', "\n", header=False)  # of a file that ``rewritten`` makes
NO_VALUE = ("", "\\N")  # without quotes: no value; the second is that of MySQL and PostgreSQL
_ENDS = {"\n": "\\n", "\r\n": "\\r\\n", "\r": "\\r"}  # as DuckDB names them


@dataclass(frozen=True, eq=False, repr=False)
class FileRows:
    """An open file."""

    query: exp.Query  # selects its rows; of baskets ``(tid, item)`` with a list of items
    account: Account  # what it holds, without what comes of its rows
    records: int  # the number of rows that the query must give
    columns: tuple[str, ...] | None = None  # the names of the columns, all of texts; None if the query's own types hold
    faults: Mapping[str, str] = field(default_factory=dict)  # columns that cannot be used, with the reason
    lines: exp.Query | None = None  # of baskets: ``(id, line)``, whose items ``separator`` separates
    separator: str = " "
    # counts the records again, if DuckDB does not read them: names the line that is wrong
    again: Callable[[], object] = tuple


@contextlib.contextmanager
def private_folder(engine: Engine) -> Iterator[Path]:
    """A directory for plain copies of files, which only this user and the engine's connection can read."""
    place = engine.spill_directory
    folder = private_directory() if place is None else Path(tempfile.mkdtemp(dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def open_file(engine: Engine, path: Path, role: str, reading: Reading) -> Iterator[FileRows]:
    """Open a file of any format for the duration of the block.

    Args:
        engine: the engine, which reads the file or a plain copy of it.
        role: what it is, such as ``transactions``.
        reading: what the owner says of it.

    Raises:
        InputError: the file does not exist, or is not what it is read as (``anondb.reading``).
    """
    name = f"file {path.name!r}"
    with private_folder(engine) as private:
        try:
            form = format_of(path, f"{role} {name}")
            if role == "transactions":
                reading.check_for(form.name)
            account = Account(path.name, role, "", 0, None, False, form.name, None)
            rows = _opened(path, form, reading, private, name, account)
            if not rows.account.sha256:
                digest, size = digest_of(path)
                rows = replace(rows, account=replace(rows.account, sha256=digest, bytes=size))
        except OSError:
            raise InputError(
                f"The {role} {name} cannot be read.", code="no_such_file", hint="Check the path and its permissions."
            ) from None
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
        query: exp.Query = nulls([("column1", "VARCHAR")]).where(exp.false())
        if columns:
            query = _rectangle(target, columns, _WRITTEN, survey(target, ",", None), number)
        account = replace(account, header=form.name != "xlsx" or reading.header is not False)
        return FileRows(query, account, number, columns, faults)
    plain = plain_text(path, form, reading, private, name)
    account = replace(account, encoding=reading.encoding or "utf-8")
    layout, reason = _line_layout(plain, form, reading)
    if layout is not None:
        return _baskets(plain, form, reading, private, name, replace(account, layout=layout, reason=reason))
    dialect, columns = dialect_of(plain, reading, form.suffix, name)
    if not columns:
        raise InputError(f"The {account.role} {name} is empty.", code="empty_file", hint="Is it the right file?")
    seen = survey(plain, dialect.delimiter, dialect.quote)
    shape = count_records(plain, dialect, len(columns), name, seen)
    if plain == path:
        account = replace(account, sha256=seen.sha256, bytes=seen.bytes)
    account = replace(
        account, lines=shape.lines + (reading.skip or 0), header=dialect.header, dialect=dialect, empty=shape.empty
    )
    query = _rectangle(plain, columns, dialect, seen, shape.records + shape.empty)
    again = partial(counted, plain, dialect, len(columns), name)
    return FileRows(query, account, shape.records - dialect.header, columns, again=again)


def _line_layout(plain: Path, form: Format, reading: Reading) -> tuple[str | None, str | None]:
    """The layout of a file in which a line is a person, and why; None for rows of columns."""
    if reading.layout in ("basket", "spmf"):
        return reading.layout, None
    if reading.layout is None and baskets.looks_like_spmf(plain):
        return "spmf", "its lines are those of SPMF"
    if form.name == "dat" and reading.layout is None:
        return "basket", "a .dat file has the items of a person on each line"
    return None, None


def _baskets(plain: Path, form: Format, reading: Reading, private: Path, name: str, account: Account) -> FileRows:
    of_fimi = form.name == "dat" and reading.delimiter is None and account.layout == "basket"
    number = baskets.check_fimi(plain, name) if of_fimi else 0
    if of_fimi and not reading.header:
        account = replace(account, lines=number, dialect=baskets.described(" "))
        return _lines(plain, "transactions/dat_lines", " ", number, account)
    if account.layout == "spmf":
        how, rows = "SPMF", baskets.spmf_rows(plain, name)
    else:
        delimiter = basket_delimiter(plain, reading, name)
        rows = baskets.basket_rows(plain, delimiter, reading, name)
        how = baskets.described(delimiter)
    target = private / "baskets"
    try:
        number = baskets.write_baskets(rows, target, name)
    except UnicodeDecodeError:  # of a file that ``csv`` does not read
        raise InputError(f"{name} is not valid UTF-8.", code="bad_unicode", hint="Name its encoding.") from None
    lines = lines_of(plain) + (reading.skip or 0)
    account = replace(account, lines=lines, dialect=how, header=bool(reading.header))
    return _lines(target, "transactions/basket_lines", baskets.ITEM_END, number, account)


def _lines(file: Path, query: str, separator: str, number: int, account: Account) -> FileRows:
    content = exp.select("content").from_(exp.Table(this=exp.func("read_text", file_literal(file))))
    lines = load(query).bind({"file": content}, {})
    lists = load("transactions/basket_lists").bind({"lines": lines}, {"separator": separator})
    rows = exp.select(exp.column("id").as_("tid"), exp.column("items").as_("item")).from_(lists.subquery("lists"))
    return FileRows(rows, account, number, lines=lines, separator=separator)


def _parquet(path: Path, name: str, account: Account) -> FileRows:
    import pyarrow.parquet

    try:
        number = pyarrow.parquet.read_metadata(path).num_rows
    except (OSError, ValueError):
        raise InputError(f"{name} is damaged.", code="unreadable") from None
    reader = exp.Anonymous(this="read_parquet", expressions=[file_literal(path), _option("hive_partitioning", False)])
    return FileRows(exp.select("*").from_(exp.Table(this=reader)), replace(account, header=True), number)


def _rectangle(path: Path, columns: tuple[str, ...], dialect: Dialect, seen: Survey, records: int) -> exp.Query:
    """A SELECT over a plain text file with a dialect that is fixed; nothing is detected, skipped or converted."""
    codes = [f"c{i}" for i in range(len(columns))]
    types = [exp.PropertyEQ(this=exp.Literal.string(c), expression=exp.Literal.string("VARCHAR")) for c in codes]
    quote = dialect.quote or ""
    options: dict[str, bool | str | int] = {
        "auto_detect": False,
        "delim": dialect.delimiter or baskets.ITEM_END,
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
    settings = [_option(name, value) for name, value in {**options, "nullstr": list(NO_VALUE[: len(codes)])}.items()]
    settings.append(exp.PropertyEQ(this=exp.to_identifier("columns"), expression=exp.Struct(expressions=types)))
    reader = exp.Anonymous(this="read_csv", expressions=[file_literal(path), *settings])
    named = [exp.column(code).as_(name, quoted=True) for code, name in zip(codes, columns, strict=True)]
    query = exp.select(*named).from_(exp.Table(this=reader))
    if len(codes) == 1:  # an empty line, which DuckDB takes for a row without a value
        query = query.where(exp.column(codes[0]).is_(exp.null()).not_())
    return query


def _option(name: str, value: Any) -> exp.PropertyEQ:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=exp.convert(value))


def file_literal(path: Path) -> exp.Literal:
    """A file name for DuckDB's readers, escaped because they expand patterns and ~."""
    return exp.Literal.string(re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute())))


def first_line(path: Path, reading: Reading, role: str) -> str:
    """The first line of a text file; bytes that are not in its encoding are replaced. Raises InputError:
    ``no_such_file``."""
    form = format_of(path, f"{role} file {path.name!r}")
    with decompressed(path, form.compression) as stream:
        text = stream.read(1 << 16).decode(reading.encoding or "utf-8-sig", errors="replace")
    return text.partition("\n")[0]


@contextlib.contextmanager
def _plain(engine: Engine, path: Path, role: str, reading: Reading) -> Iterator[tuple[Path, Account]]:
    """A text file as plain UTF-8, and the account of it without its dialect and its rows."""
    name = f"file {path.name!r}"
    form = format_of(path, f"{role} {name}")
    digest, size = digest_of(path)
    with private_folder(engine) as private:
        plain = plain_text(path, form, reading, private, name)
        lines, encoding = lines_of(plain), reading.encoding or "utf-8"
        yield plain, Account(path.name, role, digest, size, lines, False, form.name, encoding)


def listed_items(engine: Engine, path: Path, role: str, reading: Reading) -> tuple[Account, list[str]]:
    """The account and the items of a text file with one on each line, without blanks around them; empty lines are none."""
    with _plain(engine, path, role, reading) as (plain, account):
        invalid = first_invalid(plain)
        if invalid:
            raise not_utf8(f"file {path.name!r}", invalid)
        with plain.open(encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    items = [line for line in lines if line]
    how = "a list with an item on each line"
    return replace(account, dialect=how, empty=len(lines) - len(items), rows=len(items)), items


def ragged_rows(engine: Engine, path: Path, role: str, reading: Reading) -> tuple[Account, list[list[str]]]:
    """The account and the records of a text file of paths, which may have different numbers of fields; no empty lines."""
    dialect = Dialect(reading.delimiter or ";", reading.quote_char, header=False)
    with _plain(engine, path, role, reading) as (plain, account), Lines(plain, dialect.delimiter) as lines:
        rows = [record for _, record in records(lines, dialect, f"file {path.name!r}") if record]
    return replace(account, dialect=dialect, rows=len(rows)), rows

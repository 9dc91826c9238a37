"""Typed errors without DuckDB's text, which may contain data values or SQL."""

import os

import duckdb

from anondb.engine.files import no_file
from anondb.engine.interface import Columns
from anondb.errors import AnondbError, BudgetExceeded, DamagedFile, EngineError, InputError, InternalError

_DAMAGED = ("Corrupt database file", "Could not read enough bytes", "Serialization Error", "Invalid unicode")
_FORBIDDEN = ("Permission denied", "Read-only file system")
_NO_DATABASE = duckdb.SerializationException | duckdb.CatalogException | duckdb.NotImplementedException


def open_error(error: Exception, path: str | os.PathLike[str] = "") -> AnondbError:
    """The typed error for a database that could not be opened; ``path`` is that of its file."""
    text, name = str(error), os.path.basename(path)
    if any(words in text for words in _DAMAGED[:2]):
        return damaged()
    if "Could not set lock" in text:
        return EngineError("The database file is locked by another process.", code="locked", hint="Close it there first.")
    if "not a valid DuckDB database" in text or isinstance(error, _NO_DATABASE):
        hint = "Name one, such as a sealed release. Where data files are read, they end in .csv, .parquet and so on."
        return InputError("The file is not a DuckDB database, or it is damaged.", code="not_a_database", hint=hint)
    if "does not exist" in text or "No such file" in text:
        if name and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            words = f"The directory for {name!r} does not exist."
            return InputError(words, code="no_such_directory", hint="Make it first.")
        return InputError("The database file does not exist.", code="no_such_file")
    if os.path.isdir(path):
        return no_file(path)
    if any(words in text for words in _FORBIDDEN):
        return _forbidden(f"The database file {name!r}" if name else "The database file")
    if isinstance(error, duckdb.InvalidInputException | duckdb.BinderException | duckdb.ParserException):
        return InputError("DuckDB refused an option of the connection.", hint="Check --memory-limit and --threads.")
    return EngineError(f"The database could not be opened ({type(error).__name__}).", code="cannot_open")


def _forbidden(what: str) -> InputError:
    """The error for a file that the system does not let this user read or write."""
    return InputError(
        f"{what} may not be read or written here: its directory is not writable, or it is not yours.",
        code="not_writable",
        hint="Check its permissions and those of its directory, or copy it to a directory that is writable.",
    )


def damaged() -> DamagedFile:
    """The error for a file whose bytes are not those that DuckDB wrote."""
    return DamagedFile(
        "The file is damaged: it is cut short, or bytes of it have changed.", hint="Get it again, or from a backup."
    )


def transaction_open() -> InputError:
    """The error for a connection with an open transaction of the user."""
    return InputError(
        "The connection has a transaction open.",
        code="transaction_open",
        hint="COMMIT or ROLLBACK it first: anondb never ends your transactions.",
    )


def is_binary(collation: str) -> bool:
    """Whether a collation compares texts by their code points."""
    return collation.lower() in ("", "binary", "c", "posix")


def check_collation(collation: str) -> None:
    """Refuse a default collation that does not compare texts by their code points. Raises InputError: ``collation``."""
    if not is_binary(collation):
        raise InputError(
            "default_collation is set: items that differ by case or accent would be merged.",
            code="collation",
            hint="RESET default_collation first.",
        )


def at_most(most: int, columns: Columns) -> Columns:
    """The columns of a result, which must not have more than ``most`` rows."""
    if any(len(column) > most for column in columns.values()):
        raise BudgetExceeded(f"A statement returned more than {most:,} rows.", hint="Lower m, or raise k.")
    return columns


def bad_unicode() -> InputError:
    """The error for a text that is not valid Unicode."""
    return InputError("A text is not valid Unicode (bytes that are not UTF-8, or a lone surrogate).", code="bad_unicode")


def encodable(text: str) -> str:
    """The text of a statement, unless it is not valid Unicode. Raises InputError: ``bad_unicode``."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise bad_unicode() from None
    return text


def wrap(error: duckdb.Error, what: str) -> AnondbError:
    """The typed error for a DuckDB error; ``what`` names the statement instead of DuckDB's text."""
    kind = type(error).__name__
    text = str(error)
    if any(words in text for words in _DAMAGED):
        return damaged()
    if isinstance(error, duckdb.IOException | duckdb.TransactionException) and any(words in text for words in _FORBIDDEN):
        return _forbidden(f"A file ({what})")
    if isinstance(error, duckdb.OutOfMemoryException):
        if "max_temp_directory_size" in text or "disk" in text.replace("offloaded to disk", "").lower():
            return EngineError(f"No disk space left for temporary files ({what}).", code="disk_full")
        return EngineError(
            f"The memory limit was reached ({what}).", code="out_of_memory", hint="Raise --memory-limit, or lower m."
        )
    if isinstance(error, duckdb.IOException):
        return EngineError(f"Reading or writing a file failed ({what}).", code="io")
    if isinstance(error, duckdb.TransactionException):
        return EngineError(f"The transaction could not continue ({what}).", code="transaction")
    if "surrogate" in text or "valid UTF-8" in text or "not utf-8" in text:
        return bad_unicode()
    if isinstance(error, duckdb.InternalException | duckdb.FatalException):
        return EngineError(f"DuckDB failed internally ({what}).", code="engine_internal")
    if what.startswith("query ") or what == "generated query":
        return InternalError(f"DuckDB refused a statement of anondb ({what}: {kind}).")
    hint = None
    if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
        hint = "A value does not fit the type of a CAST or of an operation: use TRY_CAST, or a wider type."
    return EngineError(f"DuckDB refused a statement ({what}: {kind}).", code="refused", hint=hint)

"""The files that tables were loaded from, in the ledger: their accounts, and whether they are still the same."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.data.files import Loaded
from anondb.data.sources import open_source
from anondb.engine import Engine, Table
from anondb.errors import InputError, agreeing
from anondb.ledger import ledger
from anondb.ledger.stored import current_catalog, file_gone, reference_of
from anondb.ledger.tables import LOADED_FILES
from anondb.reading.account import Account, account_from
from anondb.reading.formats import digest_of
from anondb.reading.options import ReadAs, as_read, read_as

_OF_ROLE = {"transactions": "source_file", "records": "records_file"}  # the parameters of releases of files


@dataclass(frozen=True)
class SourceFile:
    """The file of a release's source, read again."""

    file: str  # its name
    status: str  # ``unchanged`` or ``changed``
    account: dict[str, Any]  # what was read of it when the release was made or its table loaded
    now: dict[str, Any] | None  # what is read of it now; None if it cannot be read any more

    @property
    def words(self) -> str:
        """The status as a sentence."""
        if self.status == "unchanged":
            return f"{self.file} is the same as when it was read"
        now = "it cannot be read" if self.now is None else agreeing(f"{self.now['rows']:,} rows")
        return agreeing(f"{self.file} is changed since it was read: {self.account['rows']:,} rows then, now {now}")

    def to_json(self) -> dict[str, Any]:
        """The file as JSON values."""
        return dict(vars(self))


def record(engine: Engine, loaded: Loaded, path: str) -> None:
    """Note the file of a table that was loaded; inside the transaction that loads it."""
    catalog = current_catalog(engine)
    ledger.ensure(engine, catalog)
    file = noted(ReadAs(as_read(path).data, loaded.reading), loaded.account)
    account = json.dumps({**file["account"], "reading": file["reading"]}, ensure_ascii=False)
    row = {"source_reference": reference_of(engine, loaded.place), "path": file["path"], "account": account}
    LOADED_FILES.append(engine, catalog, [row])


def noted(data: Any, account: Account) -> dict[str, Any]:
    """A file that was read, for the ledger: its path, its account, and what was said of how it is read."""
    source = as_read(data)
    return {"path": str(Path(source.data).absolute()), "account": account.to_json(), "reading": source.reading.texts()}


def of_table(engine: Engine, table: Table | None) -> tuple[str, dict[str, Any]] | None:
    """The path and the account of the file that a table was loaded from last; None if the ledger has none."""
    reference = reference_of(engine, table)
    rows = [] if reference is None else LOADED_FILES.rows(engine, current_catalog(engine), reference)
    return (rows[-1]["path"], json.loads(rows[-1]["account"])) if rows else None


def accounts_of(engine: Engine, table: Table | None) -> tuple[Account, ...]:
    """The account of the file that a table was loaded from, if the ledger has one."""
    loaded = of_table(engine, table)
    return () if loaded is None else (account_from(loaded[1]),)


def again(engine: Engine, entry: ledger.LedgerEntry, table: Table | None, role: str) -> SourceFile | None:
    """The file of a release's transactions or records (``role``), or from which their table was loaded: read again, and
    compared with what the ledger has of it; None if no file is known. Raises InputError: ``no_source``: it is gone."""
    if (file := entry.parameters.get(_OF_ROLE[role])) is None:
        if (loaded := of_table(engine, table)) is None:
            return None
        file = {"path": loaded[0], "account": loaded[1], "reading": loaded[1].pop("reading", {})}
    path, account, now = Path(file["path"]), file["account"], None
    try:
        same = digest_of(path)[0] == account["sha256"]
    except OSError:
        raise file_gone(entry.name, role, account["file"]) from None
    with contextlib.suppress(InputError), open_source(engine, read_as(path, file["reading"]), role) as source:
        now = None if source.account is None else source.account.to_json()
    figures = ("rows", "lines", "header", "dialect", "encoding", "empty")
    same = same and now is not None and all(now[name] == account[name] for name in figures)
    return SourceFile(account["file"], "unchanged" if same else "changed", account, now)

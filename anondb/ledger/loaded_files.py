"""The files that tables were loaded from, in the ledger: their accounts, and whether they are still the same."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.data.files import Loaded
from anondb.engine import Engine, Table
from anondb.ledger import ledger
from anondb.ledger.stored import current_catalog, reference_of
from anondb.ledger.tables import LOADED_FILES
from anondb.reading.account import Account, account_from
from anondb.reading.formats import digest_of
from anondb.reading.options import as_read


@dataclass(frozen=True)
class SourceFile:
    """The file of a release's source, read again."""

    file: str  # its name
    status: str  # ``unchanged``, ``changed`` or ``missing``
    account: dict[str, Any]  # what was read of it when the release was made or its table loaded

    @property
    def words(self) -> str:
        """The status as a sentence."""
        said = {"unchanged": "the same as when it was read", "changed": "changed since it was read", "missing": "not there"}
        return f"{self.file} is {said[self.status]}"

    def to_json(self) -> dict[str, Any]:
        """The file as JSON values."""
        return dict(vars(self))


def record(engine: Engine, loaded: Loaded, path: str) -> None:
    """Note the file of a table that was loaded; inside the transaction that loads it."""
    catalog = current_catalog(engine)
    ledger.ensure(engine, catalog)
    account = json.dumps(loaded.account.to_json(), ensure_ascii=False)
    row = {
        "source_reference": reference_of(engine, loaded.place),
        "path": str(Path(as_read(path).data).absolute()),
        "account": account,
    }
    LOADED_FILES.append(engine, catalog, [row])


def of_table(engine: Engine, table: Table | None) -> tuple[str, dict[str, Any]] | None:
    """The path and the account of the file that a table was loaded from last; None if the ledger has none."""
    reference = reference_of(engine, table)
    rows = [] if reference is None else LOADED_FILES.rows(engine, current_catalog(engine), reference)
    return (rows[-1]["path"], json.loads(rows[-1]["account"])) if rows else None


def accounts_of(engine: Engine, table: Table | None) -> tuple[Account, ...]:
    """The account of the file that a table was loaded from, if the ledger has one."""
    loaded = of_table(engine, table)
    return () if loaded is None else (account_from(loaded[1]),)


def again(engine: Engine, entry: ledger.LedgerEntry, table: Table | None) -> SourceFile | None:
    """The file of a release's source, compared with what the ledger has of it; None if no file is known."""
    noted = entry.parameters.get("source_file")
    loaded = (noted["path"], noted["account"]) if noted is not None else of_table(engine, table)
    if loaded is None:
        return None
    path, account = Path(loaded[0]), loaded[1]
    try:
        status = "unchanged" if digest_of(path)[0] == account["sha256"] else "changed"
    except OSError:
        status = "missing"
    return SourceFile(account["file"], status, account)

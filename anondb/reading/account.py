"""The reading account: what was in a file, and what became of each record of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from anondb.errors import InputError, agreeing
from anondb.reading.options import Dialect


@dataclass(frozen=True)
class Account:
    """What was read of a file. For the owner and the auditor: the sizes are true counts."""

    file: str  # the name of the file, without its folder
    role: str  # what the file is: ``transactions``, ``records``, ``taxonomy`` and so on
    # sha256, bytes: the digest and the size of the file as it lies on disk
    sha256: str = ""
    bytes: int | None = None
    lines: int | None = None  # its lines after decompression; None if its format has none
    header: bool = False  # whether the first record names the columns
    dialect: Dialect | str = ""  # delimiter, quote and line end of a text file, else the name of its format
    encoding: str | None = None  # the encoding of a text file
    # layout, reason: what a row is, and why, if that was detected
    layout: str | None = None
    reason: str | None = None
    empty: int = 0  # empty lines, which are no records
    rows: int | None = None  # its records
    missing: int = 0  # rows without an id or without an item, which are left out as the owner says
    # transactions, items: persons and different items that came of the rows
    transactions: int | None = None
    items: int | None = None
    left_out: tuple[str, ...] = field(default=())  # the columns that nothing uses, by name
    # of a query or view that reads files itself: the functions by which it does. What they skip or convert is not known.
    unseen: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The account as JSON values; ``skipped`` is 0, since nothing is ever skipped, or None if it is not seen."""
        dialect = self.dialect.to_json() if isinstance(self.dialect, Dialect) else self.dialect
        return {**vars(self), "dialect": dialect, "left_out": list(self.left_out), "skipped": None if self.unseen else 0}

    @property
    def words(self) -> str:
        """The account in one line."""
        return words_of(self.to_json())

    def check(self, rows: int) -> None:
        """Compare the rows that were read. Raises InputError: ``rows_lost``: the file has more or fewer records."""
        if rows != self.rows:
            words = f"file {self.file!r} has {self.rows} records, but {rows} rows were read."
            hint = "Say how the file is read: --delimiter, --quote, --skip. anondb peek FILE shows what it looks like."
            raise InputError(words, code="rows_lost", hint=hint)


@dataclass(frozen=True)
class Finding:
    """Something that an owner confirms, or mends."""

    name: str  # the name that ``accept`` takes, one of ``FINDINGS``
    message: str  # what was found, in counts

    def to_json(self) -> dict[str, str]:
        """The finding as JSON values."""
        return dict(vars(self))


def account_from(values: Mapping[str, Any]) -> Account:
    """The account that ``to_json`` gave."""
    arguments = {f.name: values[f.name] for f in fields(Account) if f.name in values}
    dialect = arguments["dialect"]
    if isinstance(dialect, dict):
        dialect = Dialect(**dialect, header=arguments["header"])
    return Account(**{**arguments, "dialect": dialect, "left_out": tuple(arguments["left_out"])})


def accounts_of(accounts: Sequence[Account], first: Account | None) -> tuple[Account, ...]:
    """The accounts of the files that were read, one of each, that of the transactions first."""
    kept: dict[Any, Account] = {}
    for account in (*([first] if first is not None else []), *accounts):
        kept.setdefault((account.file, account.sha256 or account), account)
    return tuple(kept.values())


def read_json(accounts: Sequence[Account]) -> dict[str, Any]:
    """What ``--json`` says of the files that were read: ``read`` is the account of the transactions, or None;
    ``read_beside`` are those of other files, such as records and taxonomies."""
    first = next((a for a in accounts if a.role == "transactions"), None)
    return {
        "read": None if first is None else first.to_json(),
        "read_beside": [a.to_json() for a in accounts if a is not first],
    }


def words_of(account: Mapping[str, Any]) -> str:
    """An account in one line, from its JSON."""
    figures = {name: account[name] for name in ("bytes", "lines", "rows", "transactions", "items")}
    parts = [f"{n:,} {'persons' if name == 'transactions' else name}" for name, n in figures.items() if n is not None]
    parts += [f"{account['missing']:,} rows without id or item left out"] if account["missing"] else []
    unseen = account.get("unseen")
    parts += [f"what {unseen} skips or converts is not seen: anondb load reads every row" if unseen else "0 skipped"]
    parts += [f"layout {account['layout']}"] if account["layout"] not in (None, "long") else []
    parts += [f"columns left out: {', '.join(account['left_out'])}"] if account["left_out"] else []
    return f"{account['file']}: {agreeing(', '.join(parts))}"

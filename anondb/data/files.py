"""``anondb load``: load files into tables of the owner's database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from anondb.data.layouts import arranged
from anondb.data.sources import Source, open_source, reading
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import missing_of
from anondb.data.types import check_types
from anondb.engine import AnyQuery, Engine, Query, Rows, Table, reads
from anondb.engine.texts import listed, quoted, sql
from anondb.errors import EngineError, InputError, by_interface
from anondb.reading.account import Account
from anondb.reading.files import beside
from anondb.reading.options import DETECTED, OF_FILES, PEOPLE, ReadAs, Reading, as_read, reading_flags

NAMED = ("tid", "item")  # the columns of persons and of items


@dataclass(frozen=True)
class Loaded:
    """A loaded table: its name, its number of rows, a remark, the account of its file, and its place."""

    table: str
    rows: int
    note: str
    account: Account
    place: Table
    reading: Reading = DETECTED  # what was said of how the file is read

    def to_json(self) -> dict[str, Any]:
        """The table as JSON values."""
        return {"table": self.table, "rows": self.rows, "note": self.note, "read": self.account.to_json()}


def load_files(
    engine: Engine,
    wanted: Mapping[str, tuple[str | None, str]],
    *,
    replace: bool = False,
    id: str | None = None,
    item: str | None = None,
    named: tuple[str, str] = NAMED,
    reading: Reading = DETECTED,
    record: Callable[[Loaded, str], None] | None = None,
) -> list[Loaded]:
    """Load files into tables of the current schema: all of them, or none if one fails; outside a transaction.

    Args:
        wanted: (file, table) for each of ``transactions``, ``taxonomy`` and ``records``.
        id, item: the columns of persons and of items in the files; ``named`` is what they are called in the tables.
        reading: how the files are read; the layout is that of the transactions.
        record: notes each table with its file.

    Transactions in rows of one item, and people without items, keep all columns. In other layouts they become the two that
    are named, one row for each item, or one row with a list for each person if there are persons without items, which the
    long form cannot hold. A taxonomy becomes ``(node, parent, ord)``. Records lose the column of items, if these are lists.
    Raises InputError: a file is missing or malformed, a table name is empty or taken.
    """
    loaded, files = [], {what: (file, name) for what, (file, name) in wanted.items() if file is not None}
    if len({name.lower() for _, name in files.values()}) < len(files):
        raise InputError("Two of the tables would have the same name.", code="table_exists", hint="Rename one.")
    if "transactions" not in files:
        hint = "Say it behind the name of the file that it is for, as in people.csv#skip=2."
        _refuse(reading, ("delimiter", "quote", "encoding"), "transactions, and there are none", hint)
    with engine.transaction():
        for what, (file, name) in files.items():
            table = room_for(engine, name, what, replace)
            with engine.accounting() as accounts:
                asked, note = as_read(file), ""
                how = reading if what == "transactions" else beside(Path(asked.data), what, reading)
                data = ReadAs(Path(asked.data), Reading(**how.texts() | asked.reading.texts()))
                if what == "taxonomy":
                    taxonomy = load_taxonomy(engine, data)
                    put_taxonomy(engine, taxonomy, table)
                    note = f"{taxonomy.n_leaves} leaves"
                elif what == "transactions":
                    note = _load_transactions(engine, data, table, id, item, named)
                else:
                    with open_source(engine, data, what) as source:
                        # the table of transactions has the lists of items, in one row for each item
                        without = (item or "item").lower() if reading.layout == "list" else None
                        renamed = [(named[0], id if named[0] == "tid" else id or "tid")]
                        engine.create(table, _renamed(source, renamed, without))
                    left_out = tuple(column for column in source.columns if column.lower() == without)
                    accounts[-1] = replace_fields(accounts[-1], left_out=left_out)
            loaded.append(Loaded(name, int(engine.scalar(reads.counted(table))), note, accounts[-1], table, data.reading))
            if record is not None:
                record(loaded[-1], file)
    return loaded


_ABOUT = {"item": ("transactions",), "item_as": ("transactions",), "id": ("transactions", "records")}
_ABOUT |= {"id_as": _ABOUT["id"], **{f"{what}_as": (what,) for what in ("transactions", "taxonomy", "records")}}


def check_about(files: Iterable[str], options: Mapping[str, Any]) -> None:
    """Refuse what an owner says of files that are not among those loaded (``transactions`` and so on)."""
    for name, value in options.items():
        if value is not None and not set(_ABOUT[name]) & set(files):
            flag = f"--{name.replace('_', '-')}"
            flag = by_interface(command_line="--as", python=flag, sql=flag) if name == "transactions_as" else flag
            what = " or ".join(f"--{w}" for w in _ABOUT[name])
            raise _idle([flag], f"{what}, and there is none", "Name that file, or leave this out.")


def _refuse(reading: Reading, others: Sequence[str], what: str, hint: str) -> None:
    """Refuse options of reading that would do nothing: all but some."""
    if idle := [reading_flags({name: value})[0] for name, value in reading.texts().items() if name not in others]:
        raise _idle(idle, what, hint)


def _idle(flags: Sequence[str], what: str, hint: str) -> InputError:
    return InputError(f"{', '.join(flags)}: this is about {what}.", code="bad_usage", hint=hint)


def room_for(engine: Engine, name: str, what: str, replace: bool) -> Table:
    """A table of this name in the current schema, which with ``replace`` is dropped if it exists; a view never is."""
    if not name:
        raise InputError(f"The name of the {what} table is empty.", code="empty_name")
    table = engine.here(name)
    if not engine.exists(table):
        return table
    if not replace:
        hint = "Choose another name, or replace it with --replace."
        raise InputError(f"A table or view {table.name!r} exists already.", code="table_exists", hint=hint)
    try:
        engine.drop(table)
    except EngineError:
        words = f"{table.name!r} is a view; --replace replaces tables only."
        raise InputError(words, code="table_exists", hint="Drop it first.") from None
    return table


def _load_transactions(
    engine: Engine, file: ReadAs, table: Table, id: str | None, item: str | None, named: tuple[str, str]
) -> str:
    with open_source(engine, file, "transactions") as source:
        if source.of_lines and (id, item) != (None, None):
            raise InputError("A file of baskets has no columns.", code="bad_usage", hint="Leave --id and --item out.")
        if (id, item, file.reading.layout) == (None, None, None) and not {"tid", "item"} <= set(source.columns):
            hint = "Name these with --id and --item."
            _refuse(file.reading, OF_FILES, "the columns of persons and items", hint)
            if named != NAMED:
                raise _idle(["--id-as and --item-as"], "the columns of persons and items", hint)
            with reading(source.name):
                engine.create(table, source.query)  # columns of other names are kept as they are
            _account(engine, source, table, None)
            return "no columns tid and item: --id and --item name those of the file"
        rows, id_column, item_column = arranged(engine, source, id or "tid", item or "item")
        check_types(rows, id_column, item_column)
        tid, member = map(quoted, named)
        lists = rows.columns[item_column].endswith("]")
        whole, without, renamed = source.typed or not lists, "", [(named[0], id_column), (named[1], item_column)]
        if file.reading.layout == PEOPLE:  # all columns are attributes
            if named[1] != NAMED[1] or file.reading.drop_missing_items:
                raise _idle(["--item-as and --drop-missing-items"], "items, and there are none", "Leave them out.")
            whole, member, without = True, sql("CAST([] AS VARCHAR[])"), item_column
            renamed.pop()
        with reading(source.name):
            copy = engine.create(table if whole else "lists", _renamed(rows, renamed, without))
        each = f"unnest({member})" if lists else member
        persons, pairs = (reads.rows(copy, f"{tid} AS tid, {m} AS item") for m in (member, each))
        _account(
            engine, rows, persons, pairs, [] if whole else [c for c in rows.columns if c not in (id_column, item_column)]
        )
        note = ""
        if not whole:
            empty = engine.scalar(reads.counted(copy, where=f"len({member}) = 0"))
            engine.create(table, reads.rows(copy, f"{tid}, {member if empty else each} AS {member}"))
            engine.drop(copy)
            note = "one row with a list for each transaction, since some have no items" if empty else ""
        left = _leave_out(engine, table, rows.how, named)
        more = f"persons without items, each in a row with none: {left}; --drop-missing-items reads them"
        return more if left else note


def _account(engine: Engine, source: Source, rows: Rows, pairs: AnyQuery | None, left_out: Sequence[str] = ()) -> None:
    """Note what came of the rows of a file: ``rows`` has all of them with their ids, ``pairs`` their ids and items."""
    assert source.account is not None
    account = replace_fields(source.account, left_out=tuple(left_out))
    if pairs is None:
        account.check(int(engine.scalar(reads.counted(rows))))
    else:
        facts = engine.query("transactions/loaded_counts", {"source": pairs, "rows": rows})
        number, ids, missing_items, transactions, items = (int(column[0]) for column in facts.values())
        account.check(number)
        missing = missing_of(source, ids, missing_items)
        account = replace_fields(account, missing=missing, transactions=transactions, items=items)
    engine.account(account)


def _leave_out(engine: Engine, table: Table, how: Reading, named: tuple[str, str]) -> int:
    """Delete the rows without an id, or without an item, that the owner leaves out, but for one of each person without
    items; return how many these are."""
    tid, item = map(quoted, named)
    if how.drop_missing_ids:
        engine.run(sql("DELETE FROM {} WHERE {} IS NULL", table, tid), "leaving rows out")
    if not how.drop_missing_items:
        return 0
    alone = reads.rows(table, "min(rowid)", group=tid, having=f"count({item}) = 0")
    engine.run(sql("DELETE FROM {} WHERE {} IS NULL AND rowid NOT IN {}", table, item, alone), "leaving rows out")
    return int(engine.scalar(reads.counted(table, where=f"{item} IS NULL")))


def _renamed(source: Source, renamed: Sequence[tuple[str, str | None]], without: str | None = None) -> Query:
    """The rows of a source, with another name of its column of ids, and of that of items if there is one; ``without`` the
    column that has this name then, in lower case."""
    flags = ("--id", "--item") if len(renamed) > 1 else ("--id; load records that call it otherwise by themselves",)
    wanted = [(source.column(old, flag), new) for flag, (new, old) in zip(flags, renamed, strict=True) if old]
    new = dict(wanted)
    if "" in new.values():
        raise InputError("A column has an empty name.", code="empty_name", hint="Name it with --id-as and --item-as.")
    names = [new.get(column, column) for column in source.columns]
    if len(new) < len(wanted) or len({n.lower() for n in names}) < len(names):
        words = f"The columns named become {' and '.join(new.values())}, but {source.name} has another of that name."
        hint = "Name two columns, and give them other names with --id-as and --item-as."
        raise InputError(words, code="column_clash", hint=hint)
    both = zip(source.columns, names, strict=True)
    chosen = (f"{quoted(c)} AS {quoted(n)}" for c, n in both if n.lower() != without)
    return reads.rows(source.query, listed(chosen))


def put_taxonomy(engine: Engine, taxonomy: Taxonomy, table: Table) -> None:
    """Create a table (node, parent, ord) of a taxonomy."""
    engine.put(table, rows_of(taxonomy))


def rows_of(taxonomy: Taxonomy) -> dict[str, tuple[str, list[Any]]]:
    """The columns of a table (node, parent, ord) of a taxonomy, in breadth-first order."""
    order = taxonomy.rank.argsort(kind="stable")
    parents = [None if p < 0 else taxonomy.labels[p] for p in taxonomy.parent[order].tolist()]
    labels = [taxonomy.labels[node] for node in order.tolist()]
    return {"node": ("VARCHAR", labels), "parent": ("VARCHAR", parents), "ord": ("INTEGER", list(range(taxonomy.size)))}

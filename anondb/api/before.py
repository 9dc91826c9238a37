"""What an owner asks of a database before a release."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import warehouse_at
from anondb.errors import InputError
from anondb.reading.formats import is_data_file
from anondb.reading.options import READING, Reading, as_read, read_as

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from anondb.compare.comparison import Comparison
    from anondb.data.files import Loaded
    from anondb.guide.advise import Advice
    from anondb.guide.look import Peek
    from anondb.guide.profile import Profile
    from anondb.guide.tables import Columns


class BeforeRelease:
    """The methods that read an owner's data, and make no release."""

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection if anondb opened it."""
        self.engine.close()

    def tables(self) -> tuple[Columns, ...]:
        """The tables and views of the owner, with their columns; those of the current schema come first."""
        from anondb.guide.tables import tables

        return tables(self.engine)

    def peek(self, source: str | os.PathLike[str], **options: Any) -> Peek:
        """Propose how a data file or a table is read, and read it so: layout, columns, three persons, what was read, and
        what has to be confirmed. Nothing is written.

        Args:
            source: a data file, or the name of a table.
            options: what you know: ``id``, ``item``, and options of reading (``anondb.reading.options.Reading``).

        Returns:
            The proposal; its ``problem`` says why the source cannot be read so.

        Raises:
            InputError: the file does not exist, or is of no format that is read.
        """
        from anondb.guide.peek import peek

        if isinstance(source, str) and (not is_data_file(source) or warehouse_at(source) is not None):
            return peek(self.engine, source, options)
        asked = as_read(Path(source))
        return peek(self.engine, asked.data, {**asked.reading.texts(), **options})

    def load(
        self,
        transactions: str | os.PathLike[str] | None = None,
        *,
        taxonomy: str | os.PathLike[str] | None = None,
        records: str | os.PathLike[str] | None = None,
        transactions_as: str | None = None,
        taxonomy_as: str | None = None,
        records_as: str | None = None,
        id: str | None = None,
        item: str | None = None,
        id_as: str | None = None,
        item_as: str | None = None,
        replace: bool = False,
        **reading: Any,
    ) -> list[Loaded]:
        """Load files into new tables of this database: all of them, or none. Every row is accounted for.

        Args:
            transactions, taxonomy, records: the files.
            transactions_as, taxonomy_as, records_as: their tables; by default ``transactions`` and so on.
            id, item: the columns of the files.
            id_as, item_as: what these are called in the tables, and by analysts; by default ``tid`` and ``item``.
            replace: whether existing tables are replaced.
            reading: how the files are read (``anondb.reading.options.Reading``); the layout is that of the transactions.

        Raises:
            InputError: there is nothing to load, or an option is about a file that is not loaded; a file is missing or
                malformed; ``table_exists``.
        """
        from anondb.data.files import NAMED, check_about, load_files
        from anondb.ledger import loaded_files, stored

        tables = {"transactions": transactions_as, "taxonomy": taxonomy_as, "records": records_as}
        named = {"transactions": transactions, "taxonomy": taxonomy, "records": records}
        called = {what: what if table is None else table for what, table in tables.items()}
        files = {what: (os.fspath(file), called[what]) for what, file in named.items() if file}
        if not files:
            hint = "Name --transactions, --taxonomy or --records."
            raise InputError("There is nothing to load.", code="bad_usage", hint=hint)
        if any(warehouse_at(path) is not None for path, _ in files.values()):
            hint = "Name the table where it is used, as in anondb anonymize --transactions URL."
            raise InputError("Tables of other databases are not loaded.", code="bad_usage", hint=hint)
        columns: dict[str, Any] = {"id": id, "item": item}
        tables_of = {f"{what}_as": table for what, table in tables.items()}
        check_about(files, {**tables_of, **columns, "id_as": id_as, "item_as": item_as})
        columns["named"] = tuple(d if n is None else n for n, d in zip((id_as, item_as), NAMED, strict=True))
        stored.check_writable(self.engine, stored.current_catalog(self.engine))
        note = partial(loaded_files.record, self.engine)
        how = Reading(**reading)
        return load_files(self.engine, files, **columns, replace=replace, reading=how, record=note)

    def copy(self, file: str | os.PathLike[str], *tables: str) -> None:
        """Copy tables into a new DuckDB file, which only this user can read and where the same names mean them: to try
        releases without writing into this database, or reading it again.

        Raises:
            InputError: there is no such table, or the file exists.
        """
        from anondb.api.connect import new_file
        from anondb.compare.copies import copy_tables

        with new_file(os.fspath(file)) as made:
            if not made:
                raise InputError("The file exists.", code="target_exists", hint="Name a file that does not exist.")
            copy_tables(self.engine, Path(file), tables)

    def unknown_items(self, transactions: Any, taxonomy: Any, *, id: str = "tid", item: str = "item") -> tuple[str, ...]:
        """The items that are not leaves of a taxonomy, sorted; ``anonymize`` refuses them.

        Errors never contain an item: ``unknown_item`` and ``internal_item`` count them, and this method lists them.
        """
        from anondb.promises import check as checks

        return checks.unknown_items(self.engine, read_as(transactions, {}, id=id, item=item), taxonomy)

    def profile(
        self,
        transactions: Any,
        *,
        taxonomy: Any = None,
        k: int = 5,
        id: str = "tid",
        item: str = "item",
        attackers: bool = True,
        **options: Any,
    ) -> Profile:
        """Profile transactions before a release: sizes, what attackers find, the taxonomy, and what each algorithm takes.

        Args:
            transactions: a table, view, file or data frame.
            taxonomy: the taxonomy of the items, which need not fit.
            k: the k of the promise that violations and costs are counted for.
            id, item: the columns of the transactions.
            attackers: whether to count what attackers find, and what algorithms take; sizes alone are quick.
            options: ``records``, ``quasi_identifiers``, ``hierarchies`` and ``sensitive`` (``anondb.guide.people``); and how
                the transactions are read (``anondb.reading.options.Reading``).

        Raises:
            InputError: a source cannot be read, or ``bad_parameter``.
        """
        from anondb.guide.needs import PEOPLE
        from anondb.guide.profile import profile

        of_people = {n: options.pop(n) for n in PEOPLE if n in options}
        rows = read_as(transactions, options, id=id, item=item)
        return profile(self.engine, rows, taxonomy=taxonomy, k=k, attackers=attackers, **of_people)

    def advise(
        self,
        transactions: Any,
        *,
        taxonomy: Any = None,
        k: int = 5,
        m: int | float = 2,
        use: str = "counts",
        item_supports: bool = False,
        id: str = "tid",
        item: str = "item",
        time_limit: float = 120.0,
        threads: int | None = None,
        memory_limit: str = "4GB",
        **options: Any,
    ) -> Advice:
        """Try algorithms on a sample and on all persons, each in a process, and advise which promise and algorithm to use.

        Args:
            transactions: a table, view, file or data frame; a copy lies in a private directory while runs read it.
            taxonomy: the taxonomy of the items.
            k, m: how many persons the knowledge of m items has to fit, at least; m may be ``math.inf``.
            use: ``counts``, ``categories`` or ``items`` (``anondb.guide.needs.Needs``).
            item_supports: whether the release may have item supports.
            id, item: the columns of the transactions.
            time_limit, threads, memory_limit: seconds of wall time for all runs, and limits of each.
            options: as in ``profile``; if people have attributes, values of delta (how much of their detail may be given up
                for that of the items, 0 to 1) are tried, by questions about both.

        Raises:
            InputError, InfeasibleError, BudgetExceeded: see ``anondb.guide.advise.advise``.
        """
        from anondb.guide.advise import advise
        from anondb.guide.needs import PEOPLE, Needs, call_of

        source, tree = (repr(x) if isinstance(x, str) else type(x).__name__ for x in (transactions, taxonomy))
        people = {name: x for name in PEOPLE if (x := options.pop(name, None)) is not None}
        columns = [("id", id, "tid"), ("item", item, "item")]
        read = {**{name: given for name, given, usual in columns if given != usual}, **options}
        return advise(
            self.engine,
            read_as(transactions, options, id=id, item=item),
            Needs(k, m, use, item_supports),
            command=lambda run: call_of(run, source, tree, read),
            taxonomy=taxonomy,
            people=people,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
        )

    def compare(
        self,
        transactions: Any,
        *,
        algorithms: str | Sequence[str] = (),
        model: str | Sequence[str] = "km",
        item_supports: bool | None = None,
        workload: Any = None,
        time_limit: float = 600.0,
        total_limit: float | None = None,
        threads: int | None = None,
        memory_limit: str = "4GB",
        again: bool = False,
        **options: Any,
    ) -> Comparison:
        """Compare promises, algorithms and parameters on the same data and questions, as ``anondb compare`` does.

        Args:
            transactions: a table, view, file or data frame; runs read copies in a private directory.
            algorithms: names; by default all that keep the promises and have their inputs.
            model: the promises, by name.
            item_supports: whether releases that may have item supports have them; by default once with, once without.
            workload: your own queries: a table, file or data frame, or a ``.sql`` log of COUNT queries.
            time_limit, threads, memory_limit: limits of each run; seconds of wall time.
            total_limit: seconds of wall time for all runs; what is not done by then is stopped.
            again: repeat the runs whose results are in the ledger.
            options: ``k``, ``m``, ``delta`` (how much of the attributes' detail may be given up for that of the items, 0 to
                1), ``h``, ``p`` and ``l``, each a value or a list of values; and options as in ``anonymize``: ``taxonomy``,
                ``records``, ``quasi_identifiers`` and so on, those of algorithms, of the random queries, and of reading.

        Returns:
            The results (``df()``, ``recommended``, ``report(FILE)``, ``csv(FILE)``), which the ledger keeps.

        Raises:
            InputError: see ``anondb.compare.comparison.compare``. A run that fails does not stop the others.
        """
        from anondb.compare.comparison import GRID, compare

        grid = {"k": [5], "m": [2]} | {n: _listed(options.pop(n)) for n in GRID if options.get(n) is not None}
        reading = {name: options.pop(name) for name in READING if name in options}
        columns = {name: options.pop(name) for name in ("id", "item") if options.get(name) is not None}
        each = {"threads": threads, "memory_limit": memory_limit, "time_limit": time_limit}
        return compare(
            self.engine,
            read_as(transactions, reading, **columns),
            algorithms=_listed(algorithms) if algorithms else [],
            models=_listed(model),
            grid=grid,
            options=options,
            item_supports=item_supports,
            workload=workload,
            limits={**each, "total_limit": total_limit},
            again=again,
        )


def _listed(value: Any) -> list[Any]:
    """The different values of a list, or a single one."""
    return list(dict.fromkeys(value)) if isinstance(value, Iterable) and not isinstance(value, str) else [value]

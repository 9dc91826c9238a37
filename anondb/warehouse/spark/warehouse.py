"""Spark as a warehouse: work tables are Parquet files in a private folder, which a run sweeps at its end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anondb.engine import Query, Table, Tables, reads
from anondb.engine.texts import Value
from anondb.engine.trees import exp
from anondb.errors import AnondbError, BudgetExceeded, InputError
from anondb.warehouse.portable import PortableWarehouse
from anondb.warehouse.spark import session
from anondb.warehouse.spark.folder import delete, files_of, make_private, may_exist, note_release
from anondb.warehouse.spark.release import FINISHED, UNFINISHED, function_of, views_of
from anondb.warehouse.statements import text_in, tree_of, what

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

BUCKETS = 16**2  # of persons that are numbered in one partition
WORKER_BYTES = 2**28
KINDS = {"INTEGER": "int", "BIGINT": "bigint"}
SETTINGS = {  # of a session of its own; the user's keeps its settings
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "32MB",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",  # so that a task has little to sort
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.limit.initialNumPartitions": "1000000",  # LIMIT reads all partitions at once, not one, four, sixteen, ...
    "spark.sql.session.timeZone": "UTC",
}


_NO_ARRAYS = "The executors' Python lacks NumPy or pyarrow, so SQL counted pairs, at several times the CPU: install both."


class SparkWarehouse(PortableWarehouse):
    """A session of Spark 4.0 or newer.

    A result is written as Parquet files before it is read again: a task that fails and runs again reads the same rows, and a
    number that was drawn stays. No item, id or key stands in the text of a statement, which plans and event logs keep.

    Args:
        spark: the user's session, not of Spark Connect. Statements run in one beside it, which shares the catalog only.
        folder: where the private folder is made, which all executors read; by default beside the catalog's tables.
        format: of the tables of a release: ``parquet``, or ``delta``, ``iceberg`` and others where the session has them.
        workers: whether the executors' Python counts pairs if it has NumPy and pyarrow; else SQL does, which is slower.
        on_statement: called with the text of every statement before it runs.
        on_progress: called with a short text on the current step of long work.
    """

    name, dialect = "Spark", "spark"

    def __init__(
        self,
        spark: SparkSession,
        *,
        folder: str | None = None,
        format: str = "parquet",
        workers: bool = True,
        on_statement: Callable[[str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(on_statement=on_statement, on_progress=on_progress)
        session.check_session(spark)
        self.failures = session.failures()
        self._user, self._session = spark, spark.newSession()
        for name, value in SETTINGS.items():
            self._session.conf.set(name, value)
        partitions = str(spark.conf.get("spark.sql.shuffle.partitions"))
        if partitions == "200":  # not chosen by the user
            partitions = str(max(64, 2 * spark.sparkContext.defaultParallelism))
        self._session.conf.set("spark.sql.shuffle.partitions", partitions)
        self._place = folder or str(spark.conf.get("spark.sql.warehouse.dir"))
        self._folder, self._format = "", format
        self._written_to: dict[Table, str] = {}
        self._files_written = 0
        self._workers = workers

    @cached_property
    def worker_bytes(self) -> int:
        """``WORKER_BYTES`` if workers of the executors can count (``Spread``)."""
        if self._workers and not session.has_arrays(self._session):
            self.notes = (_NO_ARRAYS,)
        return WORKER_BYTES if self._workers and not self.notes else 0

    def begin(self) -> None:
        """Make a private folder."""
        self._folder = self.guarded(lambda: make_private(self._user, self._place), "creating the private folder")

    def sweep(self) -> None:
        """Drop all work tables, and delete the private folder."""
        with contextlib.suppress(Exception):  # after an error of Java or the file system, which is the one to report
            for table in self._work:
                self._session.catalog.dropTempView(table.name)
        self._work.clear()
        self._written_to.clear()
        with contextlib.suppress(Exception):
            delete(self._user, self._folder)

    def create(self, target: str, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value) -> Table:
        """Write the rows of a named query or a tree as Parquet files, and name them as a temporary view."""
        query = tree_of(name, tables, values)
        return self.told(query, what(name), lambda text: self._written(target, self._session.sql(text)))

    def drop(self, *tables: Table) -> None:
        """Drop temporary views, and delete their files."""
        for table in tables:
            self._session.catalog.dropTempView(table.name)
            self._work.discard(table)
            if (written := self._written_to.pop(table, None)) is not None:
                self.guarded(partial(delete, self._user, written), "deleting a work table")

    def spread(
        self, target: str, rows: exp.Query, order: Sequence[str], work: Callable[[Any], Any], columns: Mapping[str, str]
    ) -> Table:
        """Run a function over the rows of a query (``Spread``), in the Python processes of the executors."""
        text = self.said(rows)
        kinds = ", ".join(f"{name} {KINDS[kind]}" for name, kind in columns.items())

        def counted() -> Table:
            frame = self._session.sql(text).repartition(order[0]).sortWithinPartitions(*order)
            with session.sent_whole():
                return self._written(target, frame.mapInArrow(lambda batches: work(batches), kinds))

        words = "counting pairs in Python; with workers=False SQL counts them"
        return self.guarded(counted, words)

    def source(self, reference: str | DataFrame, id_column: str, item_column: str) -> Table:
        """Copy two columns of a table or a data frame (``PortableWarehouse.source``)."""
        frame = self.guarded(lambda: self._frame(reference), "reading the source")
        taken = (text_in("spark", column) for column in self.pairs(reference, id_column, item_column).expressions)
        return self.guarded(lambda: self._written("source", frame.selectExpr(*taken)), "reading the source")

    def number(self, source: Table) -> Table:
        """Number the distinct ids in the order of their digests under a key, in many partitions. The first two digits of a
        digest are a bucket; the number of an id is its place in its bucket, after all buckets before."""
        draws = self.keyed("draws", reads.rows(source, "id", distinct=True), "id", os.urandom(32).hex())
        placed = reads.rows(draws, "id, digest, substr(digest, 1, 2) AS bucket")
        sizes = self.fetch(reads.counted(placed, "bucket", order="bucket"), most=BUCKETS)
        before = np.cumsum(sizes["n"]) - sizes["n"]
        buckets = self.put("buckets", {"bucket": ("VARCHAR", sizes["bucket"]), "before": ("BIGINT", before)})
        place = "row_number() OVER (PARTITION BY other.bucket ORDER BY one.digest, one.id)"
        number = f"CAST(other.before + {place} AS INTEGER) AS tid, one.id"
        ids = self.create("ids", reads.joined(placed, buckets, "bucket", number))
        self.drop(draws, buckets)
        return ids

    def check_target(self, name: str) -> None:
        """Check, before the work, that a release can be written; drop the schemas that killed runs have left beside it.
        Raises InputError: ``release_exists``; ``no_such_format``."""
        catalog, _, schema = name.rpartition(".")
        schemas, unfinished = self.guarded(lambda: self._schemas(catalog), "looking for releases")
        for left in unfinished:
            self._drop_schema(_schema(catalog, left))
        if schema.lower() in schemas - unfinished:
            raise session.release_exists()
        jvm: Any = self._session._jvm
        sources = jvm.org.apache.spark.sql.execution.datasources
        with contextlib.suppress(*self.failures):
            sources.DataSource.lookupDataSource(self._format, self._session._jsparkSession.sessionState().conf())
            return
        raise InputError(
            f"The session cannot write tables of the format {self._format!r}.",
            code="no_such_format",
            hint="Give the session the package of this format, or use parquet.",
        )

    def release(self, name: str, tables: Mapping[str, exp.Query], check: Callable[[Mapping[str, Table]], None]) -> None:
        """Create a schema with the tables, the views and the function ``count_bounds`` of a release.

        Args:
            name: of a schema that does not exist; it may begin with that of a catalog.
            tables: the rows of each table, sorted.
            check: called with the written tables before the views are made.

        Raises:
            InputError: ``release_exists``.

        There is no transaction over several tables: until the check has passed, the schema has neither views nor the
        function, and an error drops it. If this process is killed, Java deletes the rows, and ``check_target`` of the next
        run drops the schema: its comment names the private folder of its run, which is gone. Grants follow afterwards.
        """
        catalog, _, schema = name.rpartition(".")
        place = _schema(catalog, schema)
        unfinished = exp.SchemaCommentProperty(this=exp.Literal.string(UNFINISHED + self._folder))
        statement = exp.Create(this=place, kind="SCHEMA", properties=exp.Properties(expressions=[unfinished]))
        self.run(statement, "creating the schema of the release")
        try:
            with self._deleted_if_killed(place):
                written = {table: Table(catalog, schema, table) for table in tables}
                for table, rows in tables.items():
                    self.guarded(partial(self._saved, self.said(rows), written[table]), "writing the release")
                check(written)
                for statement in (*views_of(written), function_of(Table(catalog, schema, "count_bounds"), written)):
                    self.run(statement, "creating the views and the function of the release")
            finished = exp.Comment(this=place.copy(), kind="SCHEMA", expression=exp.Literal.string(FINISHED))
            self.run(finished, "commenting the release")
        except BaseException:
            self._drop_schema(place)
            raise

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result."""
        self.told(statement, what, self._session.sql)

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""
        return self.told(query, what, lambda text: self._session.sql(text).toArrow())

    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Name rows as a temporary view; they go to the executors with the tasks."""
        self._session.createDataFrame(rows).createOrReplaceTempView(table.name)

    def described(self, reference: str | DataFrame, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """The name of a table or a data frame, and the types of its columns."""
        table = exp.to_table(reference, dialect="spark") if isinstance(reference, str) else exp.to_table("transactions")
        kinds = ((field.name, field.dataType.simpleString()) for field in self._frame(reference).schema.fields)
        return table, {name: session.STATED.get(kind, kind.partition("<")[0]) for name, kind in kinds}

    def table_rows(self, reference: str | DataFrame, most: int) -> pa.Table:
        """The rows of a small table, such as a taxonomy, as an Arrow table. Raises BudgetExceeded: more than ``most``."""
        frame = self.guarded(lambda: self._frame(reference), "reading a table")
        rows = self.guarded(lambda: frame.limit(most + 1).toArrow(), "reading a table")
        self.fetched += rows.num_rows
        if rows.num_rows > most:
            raise BudgetExceeded(f"A table has more than {most:,} rows.")
        return rows

    def _frame(self, reference: str | DataFrame) -> DataFrame:
        return self._user.table(reference) if isinstance(reference, str) else reference

    def _schemas(self, catalog: str) -> tuple[set[str], set[str]]:
        """The schemas of a catalog, and those that killed runs have left: called unfinished, with a private folder that is
        gone."""
        listing = self._session.catalog
        before = listing.currentCatalog()
        listing.setCurrentCatalog(catalog or before)
        try:
            comments = {schema.name.lower(): schema.description or "" for schema in listing.listDatabases()}
        finally:
            listing.setCurrentCatalog(before)
        unfinished = {name for name, text in comments.items() if text.startswith(UNFINISHED)}
        gone = {n for n in unfinished if not may_exist(self._user, comments[n].removeprefix(UNFINISHED))}
        return set(comments), gone

    def _drop_schema(self, place: exp.Table) -> None:
        self.run(exp.Drop(tables=[place.copy()], kind="SCHEMA", cascade=True), "dropping an unfinished release")

    @contextlib.contextmanager
    def _deleted_if_killed(self, place: exp.Table) -> Iterator[None]:
        """Have Java delete the files of a schema if it ends during the block, or the next run if Java is killed."""
        name = text_in("spark", place)
        folder = self.guarded(lambda: self._session.catalog.getDatabase(name).locationUri, "finding the release")
        if not folder:  # the catalog keeps it elsewhere
            yield
            return
        path, files = files_of(self._user, folder)
        files.deleteOnExit(path)
        note_release(self._user, self._folder, folder)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # Java has been killed: its error is the one to report
                note_release(self._user, self._folder, None)
                files.cancelDeleteOnExit(path)

    def _saved(self, text: str, table: Table) -> None:
        rows = self._session.sql(text)
        rows.write.format(self._format).saveAsTable(text_in("spark", table.expression()))

    def _written(self, target: str, frame: DataFrame) -> Table:
        self._files_written += 1
        table, path = self.work_table(target), f"{self._folder}/{self._files_written}"
        self._written_to[table] = path
        frame.write.parquet(path)
        self._session.read.schema(frame.schema).parquet(path).createOrReplaceTempView(table.name)
        return table

    def wrapped(self, error: Exception, what: str) -> AnondbError:
        """The typed error for one of Spark."""
        return session.wrapped(error, what)


def opened(frame: DataFrame, **told: Any) -> tuple[SparkWarehouse, DataFrame]:
    """The warehouse of a data frame of Spark, which is a source there."""
    return SparkWarehouse(frame.sparkSession, **told), frame


def _schema(catalog: str, name: str) -> exp.Table:
    """The node of a schema."""
    return exp.Table(db=exp.to_identifier(name, quoted=True), catalog=exp.to_identifier(catalog or None, quoted=True))

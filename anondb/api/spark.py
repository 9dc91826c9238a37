"""The Python interface to a session of Spark: ``anondb.connect(spark)``."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.models import Model
from anondb.models.transactional import KmAnonymity
from anondb.pipeline.on_engine import EngineReport, anonymize_on, verify_on
from anondb.reading.formats import SUFFIXES, suffix_of
from anondb.verify import Verification
from anondb.warehouse.spark.warehouse import SparkWarehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_NODES = 5_000_000


class SparkDatabase(AbstractContextManager["SparkDatabase"]):
    """A session of Spark 4.0 or newer, whose tables are anonymized inside Spark. It keeps no ledger.

    Args:
        spark: the session. Its settings, temporary views and current schema stay as they are.
        options: ``folder``, ``format``, ``on_statement`` and ``on_progress`` (``SparkWarehouse``).
    """

    def __init__(self, spark: SparkSession, **options: Any) -> None:
        self._warehouse = SparkWarehouse(spark, **options)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing: the session stays open, and each call removes what it has made beside its release."""

    def anonymize(
        self,
        transactions: str | DataFrame,
        *,
        taxonomy: Taxonomy | str | os.PathLike[str] | DataFrame,
        model: Model | None = None,
        to: str,
        algorithm: str = "mhghs",
        id: str = "tid",
        item: str = "item",
        max_suppression: Fraction | int | None = None,
        item_supports: bool = False,
    ) -> EngineReport:
        """Make a k^m-anonymous release of a table, verify its rows, and write it to a new schema.

        Args:
            transactions: a table or view by name, or a data frame: one row for each id and item.
            taxonomy: a file, or a table or data frame of the form that ``Database.anonymize`` reads.
            model: ``KmAnonymity`` with a finite m; k=5, m=2 by default.
            to: the schema of the release, ``spring``, or with its catalog ``releases.spring``; it must not exist.
            algorithm: ``mhghs`` or ``hghs``.
            id, item: the columns of the transactions.
            max_suppression: how many percent of the items may be suppressed; None for any part but all.
            item_supports: whether the release says how often each item occurs within its released item, in buckets.

        Raises:
            InputError, InfeasibleError, VerificationFailed, EngineError: see ``anondb.errors``; there is no new schema.
        """
        self._warehouse.check_target(to)
        report = anonymize_on(
            self._warehouse,
            transactions,
            taxonomy=self._tree(taxonomy),
            model=KmAnonymity() if model is None else model,
            write=partial(self._warehouse.release, to),
            algorithm=algorithm,
            id_column=id,
            item_column=item,
            max_suppression=None if max_suppression is None else Fraction(max_suppression),
            supports=item_supports,
        )
        return replace(report, release=to)

    def verify(
        self, transactions: str | DataFrame, *, model: Model | None = None, id: str = "tid", item: str = "item"
    ) -> Verification:
        """Check a table against k^m-anonymity with a finite m, or transactional k-anonymity, inside Spark.

        Args:
            transactions: a table or view by name, or a data frame: one row for each id and item.
            model: the promise; ``KmAnonymity`` with k=5, m=2 by default.
            id, item: its columns.

        Raises:
            InputError: ``not_on_engine`` for another model; bad data.
        """
        promise = KmAnonymity() if model is None else model
        return verify_on(self._warehouse, transactions, promise, id_column=id, item_column=item)

    def _tree(self, taxonomy: Any) -> Taxonomy:
        """Read a taxonomy: files by themselves, tables and data frames of Spark through DuckDB."""
        if isinstance(taxonomy, Taxonomy):
            return taxonomy
        if taxonomy is None:
            raise InputError("mhghs and hghs need a taxonomy.", code="taxonomy_required", hint="Name it with taxonomy.")
        named = isinstance(taxonomy, str) and suffix_of(taxonomy) not in (*SUFFIXES, ".tree")
        is_file = isinstance(taxonomy, str | os.PathLike) and not named
        engine = DuckDBEngine.open()
        try:
            with engine.transaction():
                return load_taxonomy(engine, taxonomy if is_file else self._warehouse.table_rows(taxonomy, MOST_NODES))
        finally:
            engine.close()

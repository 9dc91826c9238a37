"""What anondb asks of a session of Spark and its columns, the code that it sends to executors, and errors without data."""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import anondb
from anondb.errors import AnondbError, EngineError, InputError

STATED = {  # types whose values are equal if and only if their texts are, as a manifest names them
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "BIGINT"),
    "string": "VARCHAR",  # that of collated ones has another name
    "date": "DATE",
    "boolean": "BOOLEAN",
}


@contextlib.contextmanager
def sent_whole() -> Iterator[None]:
    """Send this package's functions to the executors with their code: the package need not be there."""
    cloudpickle: Any = import_module("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(anondb)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(anondb)


def has_arrays(spark: Any) -> bool:
    """Whether a worker of the executors runs Python with NumPy and pyarrow; without them Java logs no error."""

    def probe(rows: Iterator[Any]) -> Iterator[bool]:
        from importlib.util import find_spec

        yield all(map(find_spec, ("numpy", "pyarrow")))

    try:
        with sent_whole():
            return bool(spark.sparkContext.parallelize([0], 1).mapPartitions(probe).first())
    except failures():
        return False


def check_session(spark: Any) -> None:
    """Refuse sessions that cannot make a private folder, or a function that returns a table."""
    if ".connect." in type(spark).__module__:
        raise InputError(
            "The session is one of Spark Connect, which has no access to folders.",
            code="bad_session",
            hint="Use a session in the driver's process.",
        )
    if int(str(spark.version).partition(".")[0]) < 4:
        raise InputError(f"Spark {spark.version} is older than 4.0.", code="bad_session", hint="Update it.")


def failures() -> tuple[type[Exception], ...]:
    """The exceptions of Spark."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def wrapped(error: Exception, what: str) -> AnondbError:
    """An error without the text of Spark's, which may have data in it."""
    condition = str(getattr(error, "getCondition", lambda: None)() or type(error).__name__)
    if condition.startswith(("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "UNRESOLVED_COLUMN")):
        return InputError("A table or a column of the source does not exist.", code="no_such_table")
    if condition.startswith("SCHEMA_ALREADY_EXISTS"):
        return release_exists()
    return EngineError(f"Spark refused a statement ({what}: {condition}).", code="refused")


def release_exists() -> InputError:
    """The error for a release whose schema exists."""
    return InputError(
        "A schema of this name exists already.",
        code="release_exists",
        hint="Choose another name, or drop the schema if a run whose Java was killed left it without count_bounds.",
    )

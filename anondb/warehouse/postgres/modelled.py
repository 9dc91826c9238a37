"""Modelled rows of a release in PostgreSQL: tables in a schema beside that of the release, named after it."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from anondb.release.modelled import COMMENT, StoredTable
from anondb.release.objects import MODELLED
from anondb.warehouse.postgres.place import check_name
from anondb.warehouse.postgres.tables import creation, place, schema_creation


def schema_of(release: str) -> str:
    """The schema of the modelled rows of the release in a schema.

    Raises:
        InputError: ``bad_name``: the name is too long.
    """
    return check_name(f"{release}_{MODELLED}")


def schema_statements(schema: str) -> list[exp.Expr]:
    """The statements that make the schema."""
    named = exp.Table(this=exp.to_identifier(schema, quoted=True))
    return [schema_creation(schema), exp.Comment(this=named, kind="SCHEMA", expression=exp.Literal.string(COMMENT))]


def table_statements(
    schema: str, tables: Sequence[StoredTable], *, temporary: bool = False
) -> Iterator[exp.Create | exp.Comment]:
    """The statements that make empty tables in the schema, with their comments.

    Raises:
        InputError: ``bad_name``: a name of the original is too long for PostgreSQL.
    """
    for one in tables:
        for name in (one.name, *one.columns):
            check_name(name)
        yield creation(schema, one.name, one.columns, temporary=temporary)
        yield exp.Comment(this=place(schema, one.name), kind="TABLE", expression=exp.Literal.string(COMMENT))

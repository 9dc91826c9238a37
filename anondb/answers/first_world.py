"""The first world of a release, as its file may have it: drawn alone, and compared with the modelled rows of a file."""

from __future__ import annotations

from anondb.release.digest import modelled_line
from anondb.release.modelled import modelled_tables
from anondb.release.objects import SchemaName
from anondb.release.reader import SealedRelease


def first_world(release: SealedRelease) -> SchemaName:
    """Draw the first world of a release on its engine; returns the schema of its tables, in the database in memory."""
    from anondb.answers.files import copied
    from anondb.answers.views import schema_of, world_is
    from anondb.answers.worlds import Worlds

    worlds = Worlds(release.engine, copied(release.engine, [release]), most=1)
    worlds.draw()
    release.engine.run(world_is(0), "choosing a world")
    return SchemaName("memory", schema_of(0))


def modelled_rows_hold(release: SealedRelease) -> bool | None:
    """Whether the modelled rows of a release are those of its first world, every row and value; None without such rows.

    They are drawn again, and digests of the sorted rows are compared.
    """
    tables = modelled_tables(release.manifest, release.kind)
    if not tables:
        return None
    drawn = first_world(release)
    return all(
        modelled_line(release.engine, table, table.place(release.schema.catalog))
        == modelled_line(release.engine, table, drawn.table(table.name))
        for table in tables
    )

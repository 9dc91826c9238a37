"""Publish a release into a schema of PostgreSQL, in one transaction with its grants.

The release is sealed into a private file first, as for any publication: with fresh keyed numbers, by a clean process, and
verified. The rows of that file go to PostgreSQL, sorted, by COPY; views, functions, comments and grants follow. The schema
is compared with what anondb writes, and its rows are read back. The transaction commits after the owner's, whose ledger then
knows the release: no reader ever sees one that the ledger does not know.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from functools import partial
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.reads import named
from anondb.engine.spill import private_block
from anondb.engine.trees import exp
from anondb.errors import AnondbError, InputError, InternalError, quote_list
from anondb.release.digest import file_digest
from anondb.release.modelled import modelled_tables
from anondb.release.objects import MODELLED, Kind, SchemaName
from anondb.release.publish import SealedFile
from anondb.release.publish import publish as seal
from anondb.release.reader import SealedRelease, sealed_release
from anondb.release.signing import ANYBODY
from anondb.warehouse.postgres import catalog, union
from anondb.warehouse.postgres.catalog import check_rights, rights_of_release, rights_to_read
from anondb.warehouse.postgres.definitions import schema_of, schema_statements, table_statements
from anondb.warehouse.postgres.local import checked_kind, write
from anondb.warehouse.postgres.owner import PostgresEngine
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import place, removals, schema_creation

_SHOWN = (
    "Readers of a schema in the database of the raw data see its catalog: the names of all tables and columns, the number of"
    " rows of each, and how many rows were inserted, changed and deleted when (pg_class, pg_stat_user_tables)."
)


def check_target(engine: DuckDBEngine, where: Place, replace: bool) -> None:
    """Check, before the long work, that a release can be published at a place. Raises InputError: ``target_exists``,
    ``same_database``, ``no_such_role``, ``bad_role``, ``no_privilege``, ``event_trigger``; see also ``Server``."""
    with contextlib.closing(Server(where, engine.say)) as server, server.undone():
        _check(engine, server, where, replace)


def check_parts(engine: DuckDBEngine, where: Place, values: Sequence[str], *, replace: bool, fresh: bool) -> None:
    """Check, before the long work, that releases of some values can be published in schemas beside that of a union of them,
    where all that is published goes if they ``replace`` it; ``fresh`` says whether the view is new."""
    with contextlib.closing(Server(where, engine.say)) as server, server.undone():
        union.check_free(server, where, fresh=fresh and not replace)
        for value in values:
            _check(engine, server, where.part(value), replace)


def manifests(engine: DuckDBEngine, where: Place) -> dict[str, dict[str, str]]:
    """The manifest of each value that is published beside a union, by its schema."""
    with contextlib.closing(Server(where, engine.say)) as server, server.undone():
        return union.manifests(server, str(where.schema))


def _check(engine: DuckDBEngine, server: Server, where: Place, replace: bool) -> None:
    catalog.check_reference(server)
    for role in (*where.analysts, *where.counters):
        _check_role(engine, server, role)
    if both := set(where.analysts) & set(where.counters):
        raise InputError(
            f"Roles are among both analysts and counters, and analysts may count anyway: {quote_list(sorted(both))}.",
            code="bad_role",
        )
    if not where.same_database and isinstance(engine, PostgresEngine) and _instance(engine.server) == _instance(server):
        raise InputError(
            f"The release would lie in the database of the raw data. {_SHOWN}",
            code="same_database",
            hint="Publish into a database of its own, or say --same-database.",
        )
    if catalog.namespace_of(server, str(where.schema)) is None:
        _check_beside(server, str(where.schema))
    elif not replace:
        raise InputError(
            f"There is a schema at {where} already.", code="target_exists", hint="Choose another name, or replace it."
        )


def _check_beside(server: Server, schema: str) -> None:
    """Refuse the name of a new schema if it, or another, would be that of the modelled rows of the other one."""
    for other in {f"{schema}_{MODELLED}", schema.removesuffix(f"_{MODELLED}")} - {schema}:
        if catalog.namespace_of(server, other) is not None:
            raise InputError(
                f"There is a schema {other!r}, and one of the two would be that of the other's modelled rows.",
                code="target_exists",
                hint="Choose another name.",
            )


def _instance(server: Server) -> tuple[str, int]:
    facts = server.query("postgres/instance")
    return str(facts["instance"][0]), int(facts["database_number"][0])


def _check_role(engine: DuckDBEngine, server: Server, role: str) -> None:
    """Refuse a role that is not there, or would read more than releases; also by what it may in the raw database, where the
    owner's role may be another, and which it need not be in."""
    facts = server.query("postgres/roles", role_name=role)
    if not facts["powerful"]:
        raise InputError(
            f"There is no role {role!r}.", code="no_such_role", hint="An administrator makes it: CREATE ROLE name NOLOGIN."
        )
    reason = _power_of(facts)
    if isinstance(engine, PostgresEngine) and (facts := engine.server.query("postgres/roles", role_name=role))["powerful"]:
        reason = reason or _power_of(facts)
        if engine.server.query("postgres/readable", role_name=role, excluded=None)["of_anondb"][0]:
            reason = reason or "it may read the ledger or a frozen release in the raw database"
    if reason is not None:
        words = f"The role {role!r} cannot be one of analysts: {reason}."
        raise InputError(words, code="bad_role", hint="Use another role.")


def _power_of(facts: dict[str, list[Any]]) -> str | None:
    """What a role of a database may that no analyst may; None if nothing."""
    if facts["powerful"][0]:
        return "it is a superuser, makes roles, replicates, or bypasses row security"
    if facts["of_owner"][0]:
        return "it is a member of the role that publishes, and so reads the raw data"
    return f"it is a member of {facts['member_of'][0]}" if facts["member_of"][0] else None


def _remarks(engine: DuckDBEngine, server: Server, where: Place) -> tuple[str, ...]:
    """What the owner should know of a place: what shows there of the raw data."""
    remarks = [_SHOWN] if where.same_database else []
    if server.query("postgres/instance")["extensions"][0]:
        remarks.append(
            "The database of the release has pg_stat_statements, which shows readers how many rows each statement of the"
            " server touched: DROP EXTENSION pg_stat_statements there."
        )
    for role in (*where.analysts, *where.counters):
        if not _connects(server, role):
            remarks.append(f"The role {role!r} may not connect to the database: GRANT CONNECT ON DATABASE name TO role.")
        if not isinstance(engine, PostgresEngine) or not _connects(engine.server, role):
            continue
        excluded = where.schema if where.same_database else None
        readable = int(engine.server.query("postgres/readable", role_name=role, excluded=excluded)["of_owner"][0])
        if readable:
            remarks.append(
                f"The role {role!r} may read {readable} of the tables and views of the raw database:"
                " REVOKE what is not for analysts."
            )
        if not where.same_database:
            remarks.append(
                f"The role {role!r} may connect to the raw database, and see its catalog:"
                " REVOKE CONNECT ON DATABASE name FROM PUBLIC."
            )
    return tuple(remarks)


def _connects(server: Server, role: str) -> bool:
    """Whether there is a role that may connect to the database."""
    return any(server.query("postgres/roles", role_name=role)["connects"])


def publish(
    engine: DuckDBEngine, release_schema: SchemaName, where: Place, *, kind: Kind, replace: bool = False, **options: Any
) -> SealedFile:
    """Write a frozen release into a schema of PostgreSQL. Call it inside a transaction of the engine: that of PostgreSQL
    commits after it. The options are those of ``release.publish.publish``."""
    server = Server(where, engine.say)
    try:
        server.begin()
        _check(engine, server, where, replace)
        with private_block() as directory:
            file = seal(engine, release_schema, directory / "sealed.duckdb", kind=kind, **options)
            size = _write(server, where, directory, file, kind, replace)
        file = replace_fields(file, path=str(where), size=size, remarks=_remarks(engine, server, where))
    except BaseException:
        _undo(server)
        raise
    engine.at_the_end(partial(_keep, server, where), partial(_undo, server))
    return file


def _keep(server: Server, where: Place) -> None:
    """Commit the release."""
    try:
        server.commit()
    except AnondbError as error:
        raise type(error)(
            f"The ledger has the publication at {where}, but PostgreSQL did not commit it.",
            code=error.code,
            hint="Publish it again.",
        ) from None
    finally:
        server.close()


def _undo(server: Server) -> None:
    server.rollback()
    server.close()


def _write(server: Server, where: Place, directory: Path, file: SealedFile, kind: Kind, replace: bool) -> int:
    """Write the rows of a sealed file into the schema, with views, functions, comments and rights; return the bytes. The
    schemas are compared with what anondb writes, their rights with those that were asked for, and the rows with the sealed
    file, byte for byte."""
    schema = str(where.schema)
    if where.union is not None:
        for part in union.separate(server, where, kind):
            _remove(server, part)
    elif replace and catalog.namespace_of(server, schema) is not None:
        _remove(server, where)
    server.run(schema_creation(schema), "making a schema")
    statements = list(catalog.release_statements(schema, kind))
    tables, others = statements[: len(kind.tables)], statements[len(kind.tables) :]
    server.run_all(tables, "making tables")
    assert isinstance(file.path, Path)
    with sealed_release(file.path, trusted=ANYBODY) as sealed:
        for name, columns in kind.tables.items():
            rows = exp.select(*map(named, columns)).from_(sealed.schema.table(name).expression()).order_by("rowid")
            server.insert(schema, name, sealed.engine.relation(rows).to_arrow_table())
        manifest = sealed.manifest
        modelled = _write_modelled(server, where, sealed)
    server.run_all(others, "making the views and functions of a release")
    server.run_all(rights_of_release(where, schema, kind), "granting rights")
    namespaces = [n for name in (schema, *modelled) if (n := catalog.namespace_of(server, name)) is not None]
    findings = catalog.schema_findings(server, schema, namespaces[0], kind)
    findings += catalog.modelled_findings(server, schema, manifest, kind)
    if findings:
        raise InternalError(f"The schema of the release has {len(findings)} objects or texts too many, too few, or others.")
    check_rights(server, where, namespaces)
    if file_digest(write(server, schema, kind, manifest, directory)) != file.sha256:
        raise InternalError("The rows in PostgreSQL differ from the sealed ones.")
    if where.union is not None:
        union.unite(server, where, kind)
    return sum(int(server.query("postgres/size", namespace=namespace)["bytes"][0]) for namespace in namespaces)


def _write_modelled(server: Server, where: Place, sealed: SealedRelease) -> list[str]:
    """Write the modelled rows of a sealed file into a schema of their own, if it has some; returns its name."""
    tables = modelled_tables(sealed.manifest, sealed.kind)
    if not tables:
        return []
    schema = schema_of(str(where.schema))
    server.run_all([*schema_statements(schema), *table_statements(schema, tables)], "making tables")
    for table in tables:
        rows = table.rows(table.place(sealed.schema.catalog), stored=True)
        server.insert(schema, table.name, sealed.engine.relation(rows).to_arrow_table())
    for role in where.analysts:
        server.run_all(rights_to_read(schema, [table.name for table in tables], role), "granting rights")
    return [schema]


def _remove(server: Server, where: Place) -> None:
    """Drop the release in a schema, and nothing else."""
    namespace = catalog.namespace_of(server, str(where.schema))
    assert namespace is not None
    kind, manifest, findings = checked_kind(server, where, namespace)
    if kind is None or any(f.check == "catalog" for f in findings):
        raise InputError(
            f"The schema of {where} does not hold a release of this version of anondb.",
            code="not_a_release",
            hint="Drop the schema yourself, or choose another name.",
        )
    schema = str(where.schema)
    drops = [exp.Drop(tables=[place(schema, name)], kind="VIEW") for name in kind.views]
    drops += [exp.Drop(tables=[place(schema, name)], kind="FUNCTION") for name in kind.macros]
    modelled = [table.name for table in modelled_tables(manifest, kind)]
    drops += removals(schema_of(schema), modelled) if modelled else []
    server.run_all([*drops, *removals(schema, list(kind.tables))], "dropping a release")

"""Compare a schema of PostgreSQL with what anondb writes: every object, column, comment, view, function and right.

Reading a view or a function of a stranger's schema would run its code, so both are never read: their texts are compared with
those of an empty release of the same kind, which is made in the session's temporary schema and undone. Texts are compared as
PostgreSQL prints them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.release.catalog import MOST_KEYS, Finding
from anondb.release.modelled import COMMENT, modelled_tables
from anondb.release.objects import MANIFEST, MODELLED, Kind
from anondb.warehouse.postgres.definitions import comments, definitions, relation_comments, schema_of, table_statements
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import creation, place

TEMPORARY = "pg_temp"
_REFERENCE = "reference"
_READING = {("schema", "USAGE"), ("relation", "SELECT"), ("function", "EXECUTE")}
Entry = tuple[str, str]  # kind and name of an object
Listing = Mapping[Entry, list[str]]


def namespace_of(server: Server, schema: str) -> int | None:
    """The number of a schema; None if there is none."""
    rows = server.query("postgres/schema", schema_name=schema)
    return int(rows["namespace"][0]) if rows["namespace"] else None


def check_reference(server: Server) -> None:
    """Check that temporary objects can be made to compare with, and that making them runs no code of others. Raises
    InputError: ``no_privilege`` or ``event_trigger``."""
    facts = server.query("postgres/instance")
    if facts["event_triggers"][0]:
        raise InputError(
            "The database has event triggers, which would run when anondb makes objects.",
            code="event_trigger",
            hint="Use a database without any.",
        )
    if not facts["temporary"][0]:
        raise InputError(
            "The role may not make temporary tables, with which anondb compares a release.",
            code="no_privilege",
            hint="The owner of the database says: GRANT TEMPORARY ON DATABASE name TO role.",
        )


def manifest_findings(server: Server, namespace: int) -> list[Finding]:
    """The differences of the manifest alone, before it is read: rules, policies and the like would run then."""
    entries = _listing(server, namespace).items()
    there = {entry: details for entry, details in entries if _is_of(entry[1], "manifest")}
    with _undone(server):
        server.run(creation(TEMPORARY, "manifest", MANIFEST, temporary=True), "making an empty table")
        server.run_all(relation_comments(TEMPORARY, "manifest", MANIFEST), "making an empty table")
        wanted = _listing(server, _temporary(server))
    return _differences(there, wanted)


def manifest_in(server: Server, schema: str) -> dict[str, str]:
    """The manifest of the release in a schema; empty if it has too many rows."""
    query = exp.select("key", "value").from_(place(schema, "manifest")).limit(MOST_KEYS + 1)
    rows = server.rows(query, "the manifest").to_pydict()
    texts = {key: value for key, value in zip(rows["key"], rows["value"], strict=True) if key and value is not None}
    return texts if len(rows["key"]) <= MOST_KEYS else {}


def schema_findings(server: Server, schema: str, namespace: int, kind: Kind) -> list[Finding]:
    """The differences of a schema from a release of this kind. Call it inside a transaction."""
    return compared(server, schema, namespace, release_statements(TEMPORARY, kind), None)


def modelled_findings(server: Server, release: str, manifest: Mapping[str, str], kind: Kind) -> list[Finding]:
    """The differences of the schema of modelled rows from that of this release. Call it inside a transaction."""
    namespace = namespace_of(server, f"{release}_{MODELLED}")
    tables = modelled_tables(manifest, kind)
    if MODELLED not in manifest:
        what = "a schema of modelled rows, of which the manifest says nothing"
        return [] if namespace is None else [Finding("catalog", what)]
    if namespace is None or not tables:
        what = "there is no schema of modelled rows, or the manifest does not say what columns they have"
        return [Finding("catalog", what)]
    statements = table_statements(TEMPORARY, tables, temporary=True)
    findings = compared(server, schema_of(release), namespace, statements, COMMENT)
    return findings + grant_findings(server, namespace)


def compared(
    server: Server, schema: str, namespace: int, statements: Iterable[exp.Expr | str], comment: str | None
) -> list[Finding]:
    """The differences of a schema from what the statements make in the session's temporary schema, and from its comment."""
    there = {**_listing(server, namespace), **_texts(server, namespace, schema)}
    with _undone(server):
        server.run_all(statements, "making an empty release")
        temporary = _temporary(server)
        wanted = {**_listing(server, temporary), **_texts(server, temporary, TEMPORARY)}
    said = server.query("postgres/schema", schema_name=schema)["comment"][0]
    wrong = [] if said == comment else [Finding("catalog", "the comment of the schema is not anondb's")]
    return _differences(there, wanted) + wrong


def grant_findings(server: Server, namespace: int) -> list[Finding]:
    """Rights of others than the owner: beyond reading, or of everybody (PUBLIC)."""
    rows = server.query("postgres/grants", namespace=namespace)
    listed = zip(rows["kind"], rows["privilege"], rows["grantable"], strict=True)
    more = sum((kind, privilege) not in _READING or grantable for kind, privilege, grantable in listed)
    everybody = rows["grantee"].count("")
    findings = [Finding("grants", f"{more} rights of others than to read")] if more else []
    return findings + ([Finding("grants", f"{everybody} rights of everybody (PUBLIC)")] if everybody else [])


def default_privileges(what: str) -> InputError:
    """The error for rights that PostgreSQL gives others when an object is made."""
    return InputError(
        f"The default privileges of your role give others rights {what}.",
        code="default_privileges",
        hint="Look them up with \\ddp in psql, ALTER DEFAULT PRIVILEGES, and run it again.",
    )


def rights_of_release(where: Place, schema: str, kind: Kind) -> list[exp.Expr]:
    """The statements that grant the rights of readers on a schema, and of roles that may only call ``count_bounds``."""
    statements: list[exp.Expr] = [_right(exp.Revoke, "EXECUTE", "FUNCTION", place(schema, f), "PUBLIC") for f in kind.macros]
    for role in where.counters:
        statements.append(_usage(schema, role))
        statements.append(_right(exp.Grant, "EXECUTE", "FUNCTION", place(schema, "count_bounds"), role))
    for role in where.analysts:
        statements += rights_to_read(schema, [*kind.tables, *kind.views], role)
        statements += [_right(exp.Grant, "EXECUTE", "FUNCTION", place(schema, f), role) for f in kind.macros]
    return statements


def rights_to_read(schema: str, tables: Sequence[str], role: str) -> Iterator[exp.Expr]:
    """The statements that let a role read tables and views of a schema."""
    yield _usage(schema, role)
    yield from (_right(exp.Grant, "SELECT", "TABLE", place(schema, name), role) for name in tables)


def check_rights(server: Server, where: Place, namespaces: Sequence[int]) -> None:
    """Compare the rights on schemas with those that were asked for. Raises InputError: ``default_privileges``."""
    rights = dict.fromkeys(where.analysts, "SELECT") | dict.fromkeys(where.counters, "EXECUTE")
    for rows in (server.query("postgres/grants", namespace=namespace) for namespace in namespaces):
        for grantee, privilege in zip(rows["grantee"], rows["privilege"], strict=True):
            if rights.get(grantee) != "SELECT" and (grantee not in rights or privilege == "SELECT"):
                raise default_privileges("on the release")


def _usage(schema: str, role: str) -> exp.Expr:
    return _right(exp.Grant, "USAGE", "SCHEMA", exp.Table(this=exp.to_identifier(schema, quoted=True)), role)


def _right(
    action: type[exp.Grant] | type[exp.Revoke], privilege: str, kind: str, securable: exp.Table, role: str
) -> exp.Grant | exp.Revoke:
    """``GRANT privilege ON kind securable TO role``, or ``REVOKE``."""
    to = exp.var(role) if role == "PUBLIC" and action is exp.Revoke else exp.to_identifier(role, quoted=True)
    return action(
        privileges=[exp.GrantPrivilege(this=exp.var(privilege))],
        kind=kind,
        securable=securable.copy(),
        principals=[exp.GrantPrincipal(this=to)],
    )


def release_statements(schema: str, kind: Kind) -> Iterator[exp.Expr | str]:
    """The statements that make an empty release: tables, views, functions and comments."""
    temporary = schema == TEMPORARY
    yield from (creation(schema, name, columns, temporary=temporary) for name, columns in kind.tables.items())
    yield from definitions(schema, kind)
    yield from comments(schema, kind)


@contextlib.contextmanager
def _undone(server: Server) -> Iterator[None]:
    """Undo what the block does in the open transaction."""
    server.run(f"SAVEPOINT {_REFERENCE}", "savepoint")
    try:
        yield
    finally:
        server.run(f"ROLLBACK TO SAVEPOINT {_REFERENCE}", "savepoint")
        server.run(f"RELEASE SAVEPOINT {_REFERENCE}", "savepoint")  # blocks may be nested


def _temporary(server: Server) -> int:
    return int(server.query("postgres/temporary")["namespace"][0])


def _is_of(name: str, table: str) -> bool:
    """Whether an entry of the listing is of a table, or may be."""
    return name == table or name.startswith(f"{table} ") or name.endswith(f" of {table}")


def _listing(server: Server, namespace: int) -> dict[Entry, list[str]]:
    """Everything in a schema but texts."""
    rows = server.query("postgres/contents", namespace=namespace)
    listing: dict[Entry, list[str]] = {}
    for kind, name, detail in zip(*rows.values(), strict=True):
        listing.setdefault((kind, name), []).append(detail)
    return {entry: sorted(details) for entry, details in listing.items()}


def _texts(server: Server, namespace: int, schema: str) -> dict[Entry, list[str]]:
    """The texts of views and functions, with names of the schema unqualified. The schema is in the search path while
    PostgreSQL prints them, so these statements call functions by full names and with arguments of exactly their types: the
    schema can hide nothing."""
    rows = server.query("postgres/text_oids", namespace=namespace)
    listing: dict[Entry, list[str]] = {}
    with _undone(server):
        path = ", ".join(exp.to_identifier(name, quoted=True).sql() for name in ("pg_catalog", schema, TEMPORARY))
        server.rows(exp.select(exp.func("set_config", *map(exp.convert, ("search_path", path, True)))), "search path")
        for kind, name, oid in zip(*rows.values(), strict=True):
            function = {"view": "pg_get_viewdef", "function": "pg_get_function_sqlbody"}[kind]
            number = exp.cast(exp.convert(oid), exp.DataType.build("pg_catalog.oid", dialect="postgres", udt=True))
            printed = exp.Dot(
                this=exp.to_identifier("pg_catalog"), expression=exp.Anonymous(this=function, expressions=[number])
            )
            text = server.rows(exp.select(printed.as_("text")), "the text of an object").to_pydict()["text"][0]
            listing.setdefault((f"text of the {kind}", name), []).append(str(text))
    return {entry: sorted(texts) for entry, texts in listing.items()}


def _differences(there: Listing, wanted: Listing) -> list[Finding]:
    """Unexpected and missing objects, and details that differ from anondb's."""
    what = [f"not allowed: {_described(entry)}" for entry in sorted(there.keys() - wanted.keys())]
    what += [f"missing: {_described(entry)}" for entry in sorted(wanted.keys() - there.keys())]
    what += [
        f"not anondb's: {_described(entry)}"
        for entry in sorted(there.keys() & wanted.keys())
        if there[entry] != wanted[entry]
    ]
    return [Finding("catalog", words) for words in what]


def _described(entry: Entry) -> str:
    kind, name = entry
    return f"{kind} {repr(name)[1:-1]}"

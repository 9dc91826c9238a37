"""The rights of analysts on the schemas of a release in PostgreSQL."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from anondb.release.objects import Kind
from anondb.warehouse.postgres.catalog import default_privileges
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import place


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

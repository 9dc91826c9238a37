-- reads: none
-- params: role_name
-- returns: powerful, of_owner, connects, member_of
-- grain: one row
-- A role: whether it is a superuser, may grant itself roles, or passes row security, whether it is a member of the current role, whether it may connect to
-- the current database, and the predefined roles beyond those of every analyst that it is a member of.
SELECT
    r.rolsuper OR r.rolcreaterole OR r.rolbypassrls OR r.rolreplication AS powerful,
    pg_has_role(r.oid, (SELECT me.oid FROM pg_catalog.pg_roles AS me WHERE me.rolname = current_user), 'MEMBER') AS of_owner,
    has_database_privilege(r.oid, CAST(current_database() AS TEXT), 'CONNECT') AS connects,
    (
        SELECT coalesce(string_agg(CAST(p.rolname AS TEXT), ', ' ORDER BY p.rolname), '')
        FROM pg_catalog.pg_roles AS p
        WHERE left(p.rolname, 3) = 'pg_' AND pg_has_role(r.oid, p.oid, 'MEMBER')
    ) AS member_of
FROM pg_catalog.pg_roles AS r
WHERE r.rolname = getvariable('role_name')

-- reads: none
-- params: beginning, left_out
-- returns: schema_name, owned
-- grain: schema_name
-- The schemas whose names begin with a text, but for those with a comment, and whether they belong to the role.
SELECT
    CAST(n.nspname AS TEXT) AS schema_name,
    n.nspowner = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) AS owned
FROM pg_catalog.pg_namespace AS n
WHERE
    starts_with(CAST(n.nspname AS TEXT), getvariable('beginning'))
    AND obj_description(n.oid, 'pg_namespace') IS DISTINCT FROM getvariable('left_out')
ORDER BY CAST(n.nspname AS TEXT) COLLATE "C"

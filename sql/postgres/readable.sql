-- reads: none
-- params: role_name, excluded
-- returns: of_anondb, of_owner
-- grain: one row
-- How many relations of this database a role may read, outside of the schema "excluded": of the ledger and of frozen releases, and
-- others.
SELECT
    count(*) FILTER (WHERE n.nspname = 'anondb' OR left(lower(n.nspname), 8) = 'release_') AS of_anondb,
    count(*) FILTER (WHERE n.nspname <> 'anondb' AND left(lower(n.nspname), 8) <> 'release_') AS of_owner
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
JOIN pg_catalog.pg_roles AS r ON r.rolname = getvariable('role_name')
WHERE
    c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND left(n.nspname, 3) <> 'pg_'
    AND (getvariable('excluded') IS NULL OR n.nspname <> getvariable('excluded'))
    AND has_schema_privilege(r.oid, n.oid, 'USAGE')
    AND (has_table_privilege(r.oid, c.oid, 'SELECT') OR has_any_column_privilege(r.oid, c.oid, 'SELECT'))

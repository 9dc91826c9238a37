-- reads: none
-- params: none
-- returns: schema_name, has_state
-- grain: schema_name
-- The schemas of the ledger and of frozen releases, and whether the ledger's state lies in them.
SELECT
    CAST(n.nspname AS TEXT) AS schema_name,
    EXISTS (
        SELECT 1 FROM pg_catalog.pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = 'state' AND c.relkind = 'r'
    ) AS has_state
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname = 'anondb' OR left(lower(n.nspname), 8) = 'release_'
ORDER BY n.nspname

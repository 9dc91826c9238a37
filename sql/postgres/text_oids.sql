-- reads: none
-- params: namespace
-- returns: kind, name, oid
-- grain: oid
-- The views and functions of a schema, whose texts are compared.
SELECT 'view' AS kind, CAST(c.relname AS TEXT) AS name, CAST(c.oid AS BIGINT) AS oid
FROM pg_catalog.pg_class AS c
WHERE c.relnamespace = CAST(getvariable('namespace') AS OID) AND c.relkind = 'v'
UNION ALL
SELECT 'function' AS kind, CAST(p.proname AS TEXT) AS name, CAST(p.oid AS BIGINT) AS oid
FROM pg_catalog.pg_proc AS p
WHERE p.pronamespace = CAST(getvariable('namespace') AS OID)
ORDER BY 1, 2, 3

-- reads: none
-- params: schema_name
-- returns: namespace, owner, comment
-- grain: namespace
-- A schema: its number, its owner, and its comment.
SELECT
    CAST(n.oid AS BIGINT) AS namespace,
    CAST(pg_get_userbyid(n.nspowner) AS TEXT) AS owner,
    CAST(obj_description(n.oid, 'pg_namespace') AS TEXT) AS comment
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname = getvariable('schema_name')

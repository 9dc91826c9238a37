-- reads: none
-- params: schema_name
-- returns: namespace, owner, comment
-- grain: namespace
-- A schema: its number, its owner, and its comment. As a NAME, a text of more than 63 bytes would be cut off.
SELECT
    CAST(n.oid AS BIGINT) AS namespace,
    CAST(pg_get_userbyid(n.nspowner) AS TEXT) AS owner,
    CAST(obj_description(n.oid, 'pg_namespace') AS TEXT) AS comment
FROM pg_catalog.pg_namespace AS n
WHERE CAST(n.nspname AS TEXT) = getvariable('schema_name')

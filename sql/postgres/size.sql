-- reads: none
-- params: namespace
-- returns: bytes
-- grain: one row
-- The bytes of the tables of a schema.
SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) AS bytes
FROM pg_catalog.pg_class AS c
WHERE c.relnamespace = CAST(getvariable('namespace') AS OID) AND c.relkind = 'r'

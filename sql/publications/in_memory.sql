-- reads: none
-- params: catalog_name
-- returns: in_memory
-- grain: one row
-- Whether a database has no file.
SELECT coalesce(bool_and(path IS NULL OR path = ''), false) AS in_memory
FROM duckdb_databases()
WHERE database_name = getvariable('catalog_name')

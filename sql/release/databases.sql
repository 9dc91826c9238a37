-- reads: none
-- params: none
-- returns: path
-- grain: path
-- The files of all attached databases.
SELECT DISTINCT path FROM duckdb_databases() WHERE path IS NOT NULL ORDER BY path ASC

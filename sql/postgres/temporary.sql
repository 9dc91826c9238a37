-- reads: none
-- params: none
-- returns: namespace
-- grain: one row
-- The number of the session's temporary schema.
SELECT CAST(pg_catalog.pg_my_temp_schema() AS BIGINT) AS namespace

-- reads: none
-- params: none
-- returns: catalog_name
-- grain: one row
-- The name under which the current database is attached.
SELECT current_database() AS catalog_name

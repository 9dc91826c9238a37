-- reads: none
-- params: none
-- returns: catalog_name, schema_name
-- grain: one row
-- Where unqualified names are made.
SELECT current_database() AS catalog_name, current_schema() AS schema_name

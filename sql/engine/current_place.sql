-- reads: none
-- params: none
-- returns: catalog_name, schema_name
-- grain: one row
-- The catalog and schema in which unqualified names are created.
SELECT current_database() AS catalog_name, current_schema() AS schema_name

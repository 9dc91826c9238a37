-- reads: none
-- params: catalog_name
-- returns: schema_name, kind, name, part, detail, text
-- grain: schema_name, kind, name, part, detail
-- The macros of a database with their parameters and texts; apart from the other objects because the list of all functions is long.
SELECT
    schema_name, 'function' AS kind, function_name AS name, array_to_string(parameters, ',') AS part,
    CASE WHEN comment IS NULL AND len(map_keys(tags)) = 0 THEN function_type ELSE 'commented' END AS detail,
    macro_definition AS text
FROM duckdb_functions()
WHERE database_name = getvariable('catalog_name') AND NOT internal

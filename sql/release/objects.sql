-- reads: none
-- params: none
-- returns: catalog_name, schema_name, kind, name, text, comment
-- grain: catalog_name, schema_name, kind, name, text
-- All objects in the catalogs of all databases but triggers (release/triggers), in one list: the text of each table, view and
-- macro, and its comment and tags. No view or macro is bound. A scalar macro may have the name of a table macro.
SELECT
    database_name AS catalog_name, schema_name, 'schema' AS kind, '' AS name, '' AS text, coalesce(comment, '') || CAST(tags AS TEXT) AS comment
FROM duckdb_schemas()
WHERE database_name NOT IN ('system', 'temp') AND schema_name NOT IN ('information_schema', 'pg_catalog')
UNION ALL
SELECT
    database_name AS catalog_name, schema_name, 'table' AS kind, table_name AS name, sql AS text, coalesce(comment, '') || CAST(tags AS TEXT) AS comment
FROM duckdb_tables()
UNION ALL
SELECT
    database_name AS catalog_name, schema_name, 'view' AS kind, view_name AS name, sql AS text, coalesce(comment, '') || CAST(tags AS TEXT) AS comment
FROM duckdb_views()
WHERE NOT internal
UNION ALL
SELECT
    database_name AS catalog_name, schema_name,
    CASE function_type WHEN 'table_macro' THEN 'macro' WHEN 'macro' THEN 'scalar macro' ELSE function_type END AS kind,
    function_name AS name,
    string_agg(array_to_string(parameters, ',') || ' ' || coalesce(macro_definition, ''), ';' ORDER BY macro_definition ASC) AS text,
    string_agg(coalesce(comment, '') || CAST(tags AS TEXT), ';' ORDER BY comment ASC) AS comment
FROM duckdb_functions()
WHERE NOT internal
GROUP BY database_name, schema_name, function_type, function_name
UNION ALL
SELECT database_name AS catalog_name, schema_name, 'type' AS kind, type_name AS name, '' AS text, '' AS comment
FROM duckdb_types()
WHERE NOT internal
UNION ALL
SELECT database_name AS catalog_name, schema_name, 'sequence' AS kind, sequence_name AS name, '' AS text, '' AS comment
FROM duckdb_sequences()
UNION ALL
SELECT database_name AS catalog_name, schema_name, 'index' AS kind, index_name AS name, '' AS text, '' AS comment
FROM duckdb_indexes()
UNION ALL
SELECT database_name AS catalog_name, schema_name, 'constraint' AS kind, table_name AS name, '' AS text, constraint_type AS comment
FROM duckdb_constraints()
UNION ALL
SELECT database_name AS catalog_name, '' AS schema_name, 'comment' AS kind, '' AS name, '' AS text, 'commented' AS comment
FROM duckdb_databases()
WHERE comment IS NOT NULL

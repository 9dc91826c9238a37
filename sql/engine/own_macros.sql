-- reads: none
-- params: none
-- returns: database_name, schema_name, function_name, search_path, current_database_name
-- grain: database_name, schema_name, function_name
-- The user's macros, and the search path of DuckDB for functions; all calls are qualified, because a macro may hide an
-- unqualified function.
SELECT DISTINCT
    database_name, schema_name, function_name,
    system.main.current_setting('search_path') AS search_path,
    system.main.current_database() AS current_database_name
FROM system.main.duckdb_functions()
WHERE database_name <> 'system'
ORDER BY 1, 2, 3

-- reads: none
-- params: none
-- returns: function_name
-- grain: function_name
-- The names of DuckDB's built-in functions, operators and table functions; the calls are qualified as in own_macros.
SELECT DISTINCT function_name
FROM system.main.duckdb_functions()
WHERE database_name = 'system' AND function_type <> 'pragma'
ORDER BY 1

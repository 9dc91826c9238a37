-- reads: none
-- params: view_name, schema_name, table_names
-- returns: passed
-- grain: one row
-- Whether a view of a sealed release reads the release's tables: an error where it does not. DuckDB resolves the names in a
-- view in the view's own database, but looks at temporary tables and views first.
SELECT
    CASE
        WHEN EXISTS (
            SELECT 1 FROM duckdb_tables() AS t
            WHERE t.database_name = 'temp' AND t.schema_name = getvariable('schema_name')
            AND list_contains(CAST(getvariable('table_names') AS TEXT[]), lower(t.table_name))
        ) OR EXISTS (
            SELECT 1 FROM duckdb_views() AS v
            WHERE v.database_name = 'temp' AND v.schema_name = getvariable('schema_name')
            AND list_contains(CAST(getvariable('table_names') AS TEXT[]), lower(v.view_name))
        )
            THEN error(getvariable('view_name') || ': a temporary table or view hides a table of the release. Drop it first.')
        ELSE true
    END AS passed

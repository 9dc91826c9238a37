-- reads: manifest(key, value)
-- params: macro_name, release_id, schema_name, table_names
-- returns: passed
-- grain: one row
-- Whether a macro of a release reads the release's tables: an error where it does not.
--
-- DuckDB looks the names of a macro up where it is called, not where it is stored. So a macro first makes sure that the
-- current schema is its release: that its tables lie there, that no temporary table or view hides them, and that the
-- manifest has the release's own number. Every column is qualified: a parameter of the macro may be called like an attribute
-- of the data, and DuckDB would put it in the place of a plain column of that name.
SELECT
    CASE
        WHEN visible.hiding > 0
            THEN error(getvariable('macro_name') || ': a temporary table or view hides a table of the release. Drop it, and USE the release first.')
        WHEN visible.own < len(CAST(getvariable('table_names') AS TEXT[]))
            OR coalesce((SELECT max(manifest.value) FROM manifest WHERE manifest.key = 'release_id'), '') <> getvariable('release_id')
            THEN error(getvariable('macro_name') || ': this is not the current database. USE the release first.')
        ELSE true
    END AS passed
FROM (
    SELECT
        count(*) FILTER (WHERE everything.place = current_database() AND everything.kind = 'table') AS own,
        count(*) FILTER (WHERE everything.place = 'temp') AS hiding
    FROM (
        SELECT t.database_name AS place, t.schema_name AS folder, lower(t.table_name) AS called, 'table' AS kind FROM duckdb_tables() AS t
        UNION ALL
        SELECT v.database_name AS place, v.schema_name AS folder, lower(v.view_name) AS called, 'view' AS kind FROM duckdb_views() AS v
    ) AS everything
    WHERE everything.folder = getvariable('schema_name') AND list_contains(CAST(getvariable('table_names') AS TEXT[]), everything.called)
) AS visible

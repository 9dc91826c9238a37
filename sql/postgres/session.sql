-- reads: none
-- params: none
-- returns: version, encoding, search_path
-- grain: one row
-- The version of the server, the encoding of the database, and the schemas in which names without a schema are looked up.
SELECT
    CAST(pg_catalog.current_setting('server_version_num') AS INTEGER) AS version,
    CAST(pg_catalog.current_setting('server_encoding') AS TEXT) AS encoding,
    CAST(pg_catalog.current_schemas(false) AS TEXT[]) AS search_path

-- reads: none
-- params: none
-- returns: instance, database_number, event_triggers, extensions, temporary
-- grain: one row
-- What identifies the server and the database, how many event triggers it has, its extensions that show statements of others, and
-- whether the role may make temporary tables.
SELECT
    CAST(extract(EPOCH FROM pg_postmaster_start_time()) AS TEXT) || ' ' || current_setting('port') AS instance,
    CAST((SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database()) AS BIGINT) AS database_number,
    (SELECT count(*) FROM pg_catalog.pg_event_trigger AS t WHERE t.evtenabled <> 'D') AS event_triggers,
    EXISTS (SELECT 1 FROM pg_catalog.pg_extension AS e WHERE e.extname = 'pg_stat_statements') AS extensions,
    has_database_privilege(CAST(current_database() AS TEXT), 'TEMPORARY') AS temporary

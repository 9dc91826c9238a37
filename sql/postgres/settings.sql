-- reads: none
-- params: lock_timeout
-- returns: path, security, zone, dates, floats, bytes, messages, bodies, compiled, place, temporary_place, access, patience
-- grain: one row
-- The settings of a transaction, which end with it, since a pooler gives the session to others: no object of the database hides
-- a function, and nothing is filtered or rounded in silence. A reader may hold a lock on a release that is to be replaced.
SELECT
    pg_catalog.set_config('search_path', 'pg_catalog', true) AS path,
    pg_catalog.set_config('row_security', 'off', true) AS security,
    pg_catalog.set_config('timezone', 'UTC', true) AS zone,
    pg_catalog.set_config('datestyle', 'ISO, YMD', true) AS dates,
    pg_catalog.set_config('extra_float_digits', '1', true) AS floats,
    pg_catalog.set_config('bytea_output', 'hex', true) AS bytes,
    pg_catalog.set_config('client_min_messages', 'error', true) AS messages,
    pg_catalog.set_config('check_function_bodies', 'on', true) AS bodies,
    pg_catalog.set_config('jit', 'off', true) AS compiled,
    pg_catalog.set_config('default_tablespace', '', true) AS place,
    pg_catalog.set_config('temp_tablespaces', '', true) AS temporary_place,
    pg_catalog.set_config('default_table_access_method', 'heap', true) AS access,
    pg_catalog.set_config('lock_timeout', getvariable('lock_timeout'), true) AS patience

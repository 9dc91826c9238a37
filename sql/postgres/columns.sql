-- reads: none
-- params: wanted, schema_name
-- returns: schema_name, table_name, kind, column_name, type_name, element_name, modifier, collated
-- grain: schema_name, table_name, column_name
-- The columns of the tables and views with a name (in lower case; NULL for all), in a schema (NULL for all but PostgreSQL's
-- own): the type (of a domain the type below it), of a list the type of its elements, and whether texts that differ may be equal.
SELECT
    CAST(n.nspname AS TEXT) AS schema_name,
    CAST(c.relname AS TEXT) AS table_name,
    CAST(c.relkind AS TEXT) AS kind,
    CAST(a.attname AS TEXT) AS column_name,
    CAST(t.typname AS TEXT) AS type_name,
    CAST(e.typname AS TEXT) AS element_name,
    CASE WHEN d.typtype = 'd' THEN d.typtypmod ELSE a.atttypmod END AS modifier,
    coalesce(t.typname = 'citext' OR e.typname = 'citext' OR NOT o.collisdeterministic, false) AS collated
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
JOIN pg_catalog.pg_attribute AS a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS d ON a.atttypid = d.oid
JOIN pg_catalog.pg_type AS t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
LEFT JOIN pg_catalog.pg_type AS e ON t.typelem = e.oid AND t.typcategory = 'A'
LEFT JOIN pg_catalog.pg_collation AS o ON a.attcollation = o.oid
WHERE
    c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND (getvariable('wanted') IS NULL OR lower(c.relname) = getvariable('wanted'))
    AND (getvariable('schema_name') IS NULL OR n.nspname = getvariable('schema_name'))
ORDER BY n.nspname, c.relname, a.attnum

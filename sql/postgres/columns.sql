-- reads: none
-- params: wanted, schema_name
-- returns: schema_name, table_name, kind, column_name, type_name, element_name, modifier, collated
-- grain: schema_name, table_name, column_name
-- The columns of the tables and views with a name (in lower case; NULL for all), in a schema (NULL for all but PostgreSQL's
-- own): the type (of a domain the type below it), of a list the type of its elements, and whether texts that differ may be equal.
-- All enums are called enum, and types of other schemas than PostgreSQL's have the name of theirs.
WITH RECURSIVE
steps AS (
    SELECT oid AS domain_type, typbasetype AS below, typtypmod AS modifier FROM pg_catalog.pg_type WHERE typtype = 'd'
    UNION ALL
    SELECT steps.domain_type, d.typbasetype AS below, d.typtypmod AS modifier
    FROM steps
    JOIN pg_catalog.pg_type AS d ON steps.below = d.oid AND d.typtype = 'd'
),

types AS (
    SELECT
        d.oid AS type_id,
        t.oid AS below,
        steps.modifier,
        d.typarray AS list_type,
        t.typtype = 'b' AND t.typname = 'citext' AS is_citext,
        CASE
            WHEN t.typtype = 'e' THEN 'enum'
            WHEN n.nspname = 'pg_catalog' THEN CAST(t.typname AS TEXT)
            ELSE concat(n.nspname, '.', t.typname)
        END AS type_name
    FROM pg_catalog.pg_type AS d
    LEFT JOIN steps ON d.oid = steps.domain_type
    JOIN pg_catalog.pg_type AS t ON t.oid = coalesce(steps.below, d.oid) AND t.typtype <> 'd'
    JOIN pg_catalog.pg_namespace AS n ON t.typnamespace = n.oid
)

SELECT
    CAST(n.nspname AS TEXT) AS schema_name,
    CAST(c.relname AS TEXT) AS table_name,
    CAST(c.relkind AS TEXT) AS kind,
    CAST(a.attname AS TEXT) AS column_name,
    t.type_name,
    e.type_name AS element_name,
    coalesce(e.modifier, t.modifier, a.atttypmod) AS modifier,
    coalesce(t.is_citext OR e.is_citext OR NOT o.collisdeterministic, false) AS collated
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
JOIN pg_catalog.pg_attribute AS a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
JOIN types AS t ON a.atttypid = t.type_id
LEFT JOIN types AS e ON t.below = e.list_type
LEFT JOIN pg_catalog.pg_collation AS o ON a.attcollation = o.oid
WHERE
    c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND (getvariable('wanted') IS NULL OR lower(c.relname) = getvariable('wanted'))
    AND (getvariable('schema_name') IS NULL OR n.nspname = getvariable('schema_name'))
ORDER BY n.nspname, c.relname, a.attnum

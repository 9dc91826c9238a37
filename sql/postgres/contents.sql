-- reads: none
-- params: namespace
-- returns: kind, name, detail
-- grain: kind, name, detail
-- Everything in a schema that is not a text: relations, columns (also dropped ones, whose values stay), functions, and
-- whatever else lies in the schema or belongs to its relations.
WITH relations AS (
    SELECT
        c.oid, CAST(c.relname AS TEXT) AS name, c.relkind, c.relam, c.relrowsecurity, c.relforcerowsecurity, c.relhasrules,
        c.relhastriggers, c.relhassubclass, c.relispartition, c.relpersistence, c.reltablespace, c.reloptions
    FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace = CAST(getvariable('namespace') AS OID)
)
SELECT
    'relation' AS kind,
    r.name,
    concat_ws(
        ' ', r.relkind, m.amname, r.relrowsecurity, r.relforcerowsecurity, r.relhasrules, r.relhastriggers, r.relhassubclass,
        r.relispartition, r.relpersistence = 'u', r.reltablespace, r.reloptions, obj_description(r.oid, 'pg_class')
    ) AS detail
FROM relations AS r
LEFT JOIN pg_catalog.pg_am AS m ON r.relam = m.oid
UNION ALL
SELECT
    'column' AS kind,
    concat_ws(' ', r.name, a.attnum, a.attname) AS name,
    concat_ws(
        ' ', a.atttypid, a.atttypmod, a.attcollation, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated, a.attisdropped,
        a.attislocal, a.attinhcount, a.atthasmissing, a.attoptions, a.attstattarget, a.attstorage, a.attcompression,
        col_description(r.oid, a.attnum)
    ) AS detail
FROM relations AS r
JOIN pg_catalog.pg_attribute AS a ON r.oid = a.attrelid AND a.attnum > 0
UNION ALL
SELECT
    'function' AS kind,
    CAST(p.proname AS TEXT) AS name,
    concat_ws(
        ' ', p.prokind, l.lanname, p.prosecdef, p.proleakproof, p.proisstrict, p.proretset, p.provolatile, p.proparallel,
        p.procost, p.prorows, p.prosupport, p.proconfig, p.prosrc, p.probin, p.protrftypes,
        pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid, 'pg_proc')
    ) AS detail
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_language AS l ON p.prolang = l.oid
WHERE p.pronamespace = CAST(getvariable('namespace') AS OID)
UNION ALL
SELECT 'object' AS kind, c.relname || ' in the schema' AS name, '' AS detail
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS c ON d.classid = c.oid
WHERE
    d.refclassid = CAST('pg_catalog.pg_namespace' AS REGCLASS) AND d.refobjid = CAST(getvariable('namespace') AS OID)
    AND NOT d.classid IN (CAST('pg_catalog.pg_class' AS REGCLASS), CAST('pg_catalog.pg_proc' AS REGCLASS))
UNION ALL
SELECT 'object' AS kind, c.relname || ' of ' || r.name AS name, '' AS detail
FROM pg_catalog.pg_depend AS d
JOIN relations AS r ON d.refobjid = r.oid
JOIN pg_catalog.pg_class AS c ON d.classid = c.oid
WHERE
    d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS)
    AND c.relname IN ('pg_trigger', 'pg_policy', 'pg_attrdef', 'pg_constraint', 'pg_statistic_ext', 'pg_publication_rel')
UNION ALL
SELECT
    'rule' AS kind,
    r.name || ' ' || w.rulename AS name,
    concat_ws(' ', w.ev_type, w.ev_enabled, w.is_instead, obj_description(w.oid, 'pg_rewrite')) AS detail
FROM pg_catalog.pg_rewrite AS w
JOIN relations AS r ON w.ev_class = r.oid
UNION ALL
SELECT 'comment of the type' AS kind, CAST(t.typname AS TEXT) AS name, obj_description(t.oid, 'pg_type') AS detail
FROM pg_catalog.pg_type AS t
WHERE t.typnamespace = CAST(getvariable('namespace') AS OID) AND NOT obj_description(t.oid, 'pg_type') IS NULL

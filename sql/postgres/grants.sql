-- reads: none
-- params: namespace
-- returns: kind, name, grantee, privilege, grantable
-- grain: kind, name, grantee, privilege
-- The rights on a schema and its objects, of others than their owners; '' stands for PUBLIC.
SELECT
    o.kind,
    o.name,
    CASE WHEN a.grantee = 0 THEN '' ELSE CAST(pg_get_userbyid(a.grantee) AS TEXT) END AS grantee,
    a.privilege_type AS privilege,
    a.is_grantable AS grantable
FROM (
    SELECT 'schema' AS kind, '' AS name, n.nspowner AS owner, coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl
    FROM pg_catalog.pg_namespace AS n
    WHERE n.oid = CAST(getvariable('namespace') AS OID)
    UNION ALL
    SELECT 'relation' AS kind, CAST(c.relname AS TEXT) AS name, c.relowner AS owner, coalesce(c.relacl, acldefault('r', c.relowner)) AS acl
    FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace = CAST(getvariable('namespace') AS OID)
    UNION ALL
    SELECT 'column' AS kind, CAST(c.relname AS TEXT) AS name, c.relowner AS owner, t.attacl AS acl
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_attribute AS t ON c.oid = t.attrelid
    WHERE c.relnamespace = CAST(getvariable('namespace') AS OID) AND t.attacl IS NOT NULL
    UNION ALL
    SELECT 'function' AS kind, CAST(p.proname AS TEXT) AS name, p.proowner AS owner, coalesce(p.proacl, acldefault('f', p.proowner)) AS acl
    FROM pg_catalog.pg_proc AS p
    WHERE p.pronamespace = CAST(getvariable('namespace') AS OID)
) AS o
CROSS JOIN LATERAL aclexplode(o.acl) AS a
WHERE a.grantee <> o.owner
ORDER BY 1, 2, 3, 4

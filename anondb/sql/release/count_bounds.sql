-- reads: manifest(key, value), transaction_ids(transaction_id), transactions(transaction_id, item), released_items(released_item, item)
-- params: items, release_id, schema_name
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a global recoding with set semantics: how many original transactions hold
-- all of the items, at least, as expected, and at most.
--
-- Why these bounds hold and are the best possible. A released item stands for a non-empty subset of its members; apart
-- from that, and apart from items that no released item stands for, the originals of a transaction are free, and free of
-- those of all other transactions. So the bounds are sums over transactions. Write r(x) for the released item of x.
-- * A transaction may hold the query if and only if it has r(x) for every x: choose all members everywhere. Without r(x)
--   it cannot hold x. That is the upper bound.
-- * It must hold the query if and only if, besides, every r(x) stands for x alone: otherwise r(x) has another member y,
--   and {y} alone is a possible choice. That is the lower bound: all or nothing, since sizes are the same everywhere.
-- * An item without a released item may lie in every transaction and in none where something was suppressed; where
--   nothing was suppressed, every item of the data has a released item, and the item is in no transaction.
-- The estimate takes the 2^s - 1 non-empty subsets of s members as equally likely and released items as independent:
-- q given members of s are all present with probability 2^-q / (1 - 2^-s), a form that does not overflow.
--
-- DuckDB looks the names of a macro up where it is called, not where it is stored. So the macro first makes sure that the
-- current schema is this release: that its four tables lie there, that no temporary table or view hides them, and that
-- the manifest has the release's own number.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
visible AS (
    SELECT
        count(*) FILTER (WHERE place = current_database() AND kind = 'table') AS own,
        count(*) FILTER (WHERE place = 'temp') AS hiding
    FROM (
        SELECT database_name AS place, schema_name AS folder, lower(table_name) AS name, 'table' AS kind FROM duckdb_tables()
        UNION ALL
        SELECT database_name AS place, schema_name AS folder, lower(view_name) AS name, 'view' AS kind FROM duckdb_views()
    ) AS everything
    WHERE folder = getvariable('schema_name') AND name IN ('manifest', 'transaction_ids', 'transactions', 'released_items')
),
checked AS (
    SELECT
        CASE
            WHEN visible.hiding > 0
                THEN error('count_bounds: a temporary table or view hides a table of the release. Drop it, and USE the release first.')
            WHEN visible.own < 4
                OR coalesce((SELECT max(value) FROM manifest WHERE key = 'release_id'), '') <> getvariable('release_id')
                THEN error('count_bounds: this is not the current database. USE the release first.')
            WHEN coalesce(current_setting('default_collation'), '') <> ''
                THEN error('count_bounds: items are compared by code points. RESET default_collation first.')
            WHEN asked.labels IS NULL
                THEN error('count_bounds: the list of items is NULL. Give a list, [] for all transactions.')
            WHEN len(list_filter(asked.labels, lambda label : label IS NULL)) > 0
                THEN error('count_bounds: the list of items has a NULL in it. Leave it out.')
            ELSE true
        END AS passed
    FROM asked CROSS JOIN visible
),
wanted AS (
    SELECT DISTINCT decode(encode(label)) AS item FROM (SELECT unnest(labels) AS label FROM asked) AS listed
),
blocks AS (
    SELECT
        members.released_item,
        count(*) AS size,
        count(wanted.item) AS queried
    FROM released_items AS members
    LEFT JOIN wanted ON members.item = wanted.item
    GROUP BY members.released_item
    HAVING count(wanted.item) > 0
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(queried), 0) < (SELECT count(*) FROM wanted) AS has_unknown,
        coalesce(max(size), 1) AS largest,
        coalesce(
            product(pow(CAST(2 AS DOUBLE), -queried) / (1 - pow(CAST(2 AS DOUBLE), -size)) ORDER BY size ASC, queried ASC), 1
        ) AS probability
    FROM blocks
),
holding AS (
    SELECT count(*) AS n FROM (
        SELECT transactions.transaction_id
        FROM transactions
        WHERE transactions.item IN (SELECT blocks.released_item FROM blocks)
        GROUP BY transactions.transaction_id
        HAVING count(*) = (SELECT count(*) FROM blocks)
    ) AS full_rows
),
counted AS (
    SELECT
        query.has_unknown,
        query.largest,
        query.probability,
        CASE WHEN query.n_blocks = 0 THEN (SELECT count(*) FROM transaction_ids) ELSE holding.n END AS n,
        (SELECT max(value) FROM manifest WHERE key = 'suppression') = 'none' AS nothing_suppressed
    FROM query CROSS JOIN holding
)
SELECT
    CAST(CASE WHEN counted.has_unknown OR counted.largest > 1 THEN 0 ELSE counted.n END AS BIGINT) AS lower_bound,
    CAST(CASE WHEN counted.has_unknown THEN 0 ELSE counted.n * counted.probability END AS DOUBLE) AS estimate,
    CAST(CASE WHEN counted.has_unknown AND counted.nothing_suppressed THEN 0 ELSE counted.n END AS BIGINT) AS upper_bound
FROM counted
CROSS JOIN checked
WHERE checked.passed

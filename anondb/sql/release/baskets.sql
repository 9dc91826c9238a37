-- reads: transaction_ids(transaction_id), transactions(transaction_id, item, copies)
-- params: schema_name
-- returns: transaction_id, items
-- grain: transaction_id
-- The view baskets: one row for each transaction, its released items in one list sorted by code point (UTF-8 bytes sort
-- alike), as often as there are copies, [] where there are none. A temporary table or view of the analyst's would hide the release's, so it is refused.
-- The order depends on no setting of the analyst's. (sqlglot drops the arguments of an unqualified list_sort.)
SELECT
    transaction_ids.transaction_id,
    coalesce(held.items, CAST([] AS TEXT[])) AS items
FROM transaction_ids
LEFT JOIN (
    SELECT
        transactions.transaction_id,
        list_transform(
            main.list_sort(flatten(list(repeat([encode(transactions.item)], transactions.copies))), 'ASC', 'NULLS LAST'), lambda label : decode(label)
        ) AS items
    FROM transactions
    GROUP BY transactions.transaction_id
) AS held ON transaction_ids.transaction_id = held.transaction_id
WHERE
    CASE
        WHEN EXISTS (
            SELECT 1 FROM duckdb_tables() AS t
            WHERE t.database_name = 'temp' AND t.schema_name = getvariable('schema_name')
            AND lower(t.table_name) IN ('transaction_ids', 'transactions')
        ) OR EXISTS (
            SELECT 1 FROM duckdb_views() AS v
            WHERE v.database_name = 'temp' AND v.schema_name = getvariable('schema_name')
            AND lower(v.view_name) IN ('transaction_ids', 'transactions')
        )
            THEN error('baskets: a temporary table or view hides a table of the release. Drop it first.')
        ELSE true
    END

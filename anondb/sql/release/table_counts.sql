-- reads: transactions(transaction_id, item), transaction_ids(transaction_id), released_items(released_item, item), manifest(key, value)
-- params: none
-- returns: transactions, transaction_ids, released_items, manifest
-- grain: one row
-- How many rows each table of a release has.
SELECT
    (SELECT count(*) FROM transactions) AS transactions,
    (SELECT count(*) FROM transaction_ids) AS transaction_ids,
    (SELECT count(*) FROM released_items) AS released_items,
    (SELECT count(*) FROM manifest) AS manifest

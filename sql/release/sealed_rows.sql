-- reads: transaction_items(transaction_id, item_id, copies), labels(item_id, item), transaction_ids(transaction_id, complete), released_items(released_item, item), manifest(key, value)
-- params: none
-- returns: numbers_out_of_place, labels_out_of_place, wrong_copies, nulls, transactions_not_in_the_manifest, words_of_suppression_that_the_rows_deny
-- grain: one row
-- The numbers of inconsistent rows of a release, by kind: all are 0 in a release that anondb wrote.
SELECT
    (
        SELECT count(*) FROM transaction_ids
        WHERE transaction_id < 1 OR transaction_id > (SELECT count(DISTINCT transaction_id) FROM transaction_ids)
    ) + (SELECT count(*) - count(DISTINCT transaction_id) FROM transaction_ids) AS numbers_out_of_place,
    (
        SELECT count(*) FROM (
            SELECT item_id, rank() OVER (ORDER BY item ASC) AS place FROM labels
        ) AS ranked
        WHERE ranked.item_id <> ranked.place
    ) + (SELECT count(*) - count(DISTINCT item) FROM labels) AS labels_out_of_place,
    (
        SELECT count(*) FROM transaction_items
        WHERE copies < 1
            OR (copies > 1 AND (SELECT max(value) FROM manifest WHERE key = 'semantics') = 'set')
    ) AS wrong_copies,
    (SELECT count(*) FROM transaction_items WHERE transaction_id IS NULL OR item_id IS NULL OR copies IS NULL)
    + (SELECT count(*) FROM labels WHERE item_id IS NULL OR item IS NULL)
    + (SELECT count(*) FROM transaction_ids WHERE transaction_id IS NULL OR complete IS NULL)
    + (SELECT count(*) FROM released_items WHERE released_item IS NULL OR item IS NULL)
    + (SELECT count(*) FROM manifest WHERE key IS NULL OR value IS NULL) AS nulls,
    (
        SELECT count(*) FROM manifest
        WHERE key = 'transactions' AND value <> CAST((SELECT count(*) FROM transaction_ids) AS TEXT)
    ) AS transactions_not_in_the_manifest,
    (
        SELECT count(*) FROM manifest
        WHERE key = 'suppression'
            AND (value = 'none') = EXISTS (SELECT 1 FROM transaction_ids WHERE NOT complete)
    ) AS words_of_suppression_that_the_rows_deny

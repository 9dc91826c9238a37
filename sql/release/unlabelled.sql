-- reads: transaction_items(transaction_id, item_id), labels(item_id, item)
-- params: none
-- returns: n
-- grain: one row
-- The number of distinct item numbers without a label in the rows of a release.
SELECT count(*) AS n
FROM (SELECT DISTINCT transaction_items.item_id FROM transaction_items) AS used
WHERE NOT EXISTS (SELECT 1 FROM labels WHERE labels.item_id = used.item_id AND labels.item IS NOT NULL)

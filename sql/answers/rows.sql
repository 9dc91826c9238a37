-- reads: transaction_items(transaction_id, item_id, copies)
-- params: labels_before, tids_before
-- returns: label, tid, copies
-- grain: label, tid
-- The rows of a release, their numbers following those of the files before.
SELECT
    CAST(transaction_items.item_id + getvariable('labels_before') AS INTEGER) AS label,
    CAST(transaction_items.transaction_id + getvariable('tids_before') AS INTEGER) AS tid,
    transaction_items.copies
FROM transaction_items

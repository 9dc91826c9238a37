-- reads: transactions(transaction_id, item, copies), overlapping(below, above)
-- params: none
-- returns: transaction_id, item, label, copies, nested
-- grain: transaction_id, label
-- The rows of a release of bags. Items are distinguished by label, number of copies, and whether the same transaction has a
-- released item below; the three together are the name of the item.
SELECT
    marked.transaction_id,
    CAST(marked.copies AS TEXT) || CASE WHEN marked.nested THEN '+' ELSE '-' END || marked.label AS item,
    marked.label,
    marked.copies,
    marked.nested
FROM (
    SELECT
        transactions.transaction_id,
        transactions.item AS label,
        transactions.copies,
        EXISTS (
            SELECT 1
            FROM transactions AS others
            JOIN overlapping ON others.item = overlapping.below
            WHERE others.transaction_id = transactions.transaction_id AND overlapping.above = transactions.item
        ) AS nested
    FROM transactions
) AS marked

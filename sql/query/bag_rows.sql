-- reads: transactions(transaction_id, item, copies), overlaps(below, above)
-- params: none
-- returns: transaction_id, item, label, copies, nested
-- grain: transaction_id, label
-- The rows of a release of bags, with what tells released items of the same label apart: how many copies there are, and
-- whether the same transaction has a released item below it. All three together are the item's name here.
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
            JOIN overlaps ON others.item = overlaps.below
            WHERE others.transaction_id = transactions.transaction_id AND overlaps.above = transactions.item
        ) AS nested
    FROM transactions
) AS marked

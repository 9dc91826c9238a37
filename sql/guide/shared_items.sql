-- reads: transactions(tid, item), alone(tid)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The occurrences of the items that some transaction has which does not stand alone yet: an itemset with any other item tells
-- nothing new.
WITH open_items AS (
    SELECT DISTINCT transactions.item
    FROM transactions
    WHERE NOT EXISTS (SELECT 1 FROM alone WHERE alone.tid = transactions.tid)
)
SELECT transactions.tid, transactions.item
FROM transactions
JOIN open_items ON transactions.item = open_items.item
ORDER BY 1, 2

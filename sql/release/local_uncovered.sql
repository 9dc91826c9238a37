-- reads: transactions(tid, item), recoded(tid, released), members(released, item), incomplete(tid)
-- params: none
-- returns: wrong
-- grain: one row
-- For set semantics: the number of transactions that are marked complete but hold an item without a released item.
SELECT count(DISTINCT transactions.tid) AS wrong
FROM transactions
WHERE
    NOT EXISTS (SELECT 1 FROM incomplete WHERE incomplete.tid = transactions.tid)
    AND NOT EXISTS (
        SELECT 1
        FROM recoded
        JOIN members ON recoded.released = members.released
        WHERE recoded.tid = transactions.tid AND members.item = transactions.item
    )

-- reads: transactions(tid, item), covers(kind, released)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The kinds of original items that each published transaction may hold.
SELECT DISTINCT transactions.tid, covers.kind AS item
FROM transactions
JOIN covers ON covers.released = transactions.item

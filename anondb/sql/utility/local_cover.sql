-- reads: transactions(tid, item), recoded(tid, released), members(released, item)
-- params: none
-- returns: item, released, occurrences
-- grain: item, released
-- In how many transactions that hold an item a released item stands for it.
SELECT transactions.item, members.released, count(*) AS occurrences
FROM transactions
JOIN members ON transactions.item = members.item
JOIN recoded ON transactions.tid = recoded.tid AND members.released = recoded.released
GROUP BY transactions.item, members.released
ORDER BY 1 ASC, 2 ASC

-- reads: transactions(tid, item), recoded(tid, released), members(released, item)
-- params: none
-- returns: item, released, occurrences
-- grain: item, released
-- In how many transactions that hold an item a released item stands for it. Pairs of one transaction are counted before it
-- is asked which belong together: there are few different ones, where items and the many released items above them would
-- be many.
SELECT members.item, members.released, together.occurrences
FROM (
    SELECT transactions.item, recoded.released, count(*) AS occurrences
    FROM transactions
    JOIN recoded ON transactions.tid = recoded.tid
    GROUP BY transactions.item, recoded.released
) AS together
JOIN members ON together.item = members.item AND together.released = members.released
ORDER BY 1 ASC, 2 ASC

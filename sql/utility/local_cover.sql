-- reads: transactions(tid, item), recoded(tid, released), members(released, item)
-- params: none
-- returns: item, released, occurrences
-- grain: item, released
-- In how many transactions that hold an item a released item stands for it. Pairs of an item and a
-- released item of one transaction are counted before they are matched with the members: few pairs are distinct, whereas
-- an item has many released items above it.
SELECT members.item, members.released, together.occurrences
FROM (
    SELECT transactions.item, recoded.released, count(*) AS occurrences
    FROM transactions
    JOIN recoded ON transactions.tid = recoded.tid
    GROUP BY transactions.item, recoded.released
) AS together
JOIN members ON together.item = members.item AND together.released = members.released
ORDER BY 1 ASC, 2 ASC

-- reads: transactions(tid, item), recoded(tid, released), members(released, item)
-- params: none
-- returns: item, released, occurrences
-- grain: item, released
-- In how many transactions that hold an item a released item stands for it. Pairs of one transaction are made before it is
-- asked which belong together: they are few where the many released items above each item would be many. A pair is one
-- number, which is joined faster than two.
SELECT standing.item, standing.released, count(*) AS occurrences
FROM (
    SELECT CAST(transactions.item AS BIGINT) * 4294967296 + recoded.released AS pair
    FROM transactions
    JOIN recoded ON transactions.tid = recoded.tid
) AS together
JOIN (
    SELECT item, released, CAST(item AS BIGINT) * 4294967296 + released AS pair FROM members
) AS standing ON together.pair = standing.pair
GROUP BY standing.item, standing.released
ORDER BY 1 ASC, 2 ASC

-- reads: transactions(tid, item), private(tid, item)
-- params: none
-- returns: item, most
-- grain: item
-- For each item, the largest number of its transactions that hold the same private item.
SELECT item, max(together) AS most
FROM (
    SELECT transactions.item, private.item AS private_item, count(*) AS together
    FROM transactions
    JOIN private ON transactions.tid = private.tid
    GROUP BY transactions.item, private.item
) AS counted
GROUP BY item
ORDER BY item

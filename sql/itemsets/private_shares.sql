-- reads: transactions(tid, item), private(tid, item)
-- params: none
-- returns: item, most
-- grain: item
-- How many transactions with an item hold the private item that comes with it most often.
SELECT item, max(together) AS most
FROM (
    SELECT transactions.item, private.item AS private_item, count(*) AS together
    FROM transactions
    JOIN private ON transactions.tid = private.tid
    GROUP BY transactions.item, private.item
) AS counted
GROUP BY item
ORDER BY item

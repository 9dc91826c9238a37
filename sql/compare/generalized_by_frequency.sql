-- reads: transactions(transaction_id, item), released_items(released_item, item)
-- params: most
-- returns: item, size, support
-- grain: item
-- The most frequent released items that stand for several original items, with the number of these.
SELECT sizes.released_item AS item, sizes.size, supports.support
FROM (
    SELECT released_item, count(*) AS size FROM released_items GROUP BY released_item HAVING count(*) > 1
) AS sizes
JOIN (
    SELECT item, count(DISTINCT transaction_id) AS support FROM transactions GROUP BY item
) AS supports ON supports.item = sizes.released_item
ORDER BY supports.support DESC, sizes.released_item
LIMIT getvariable('most')

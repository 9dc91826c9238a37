-- reads: transactions(item), codes(item, label)
-- params: none
-- returns: released_item, support
-- grain: released_item
-- How many transactions would show each released item.
SELECT any_value(codes.label) AS released_item, count(*) AS support
FROM transactions
JOIN codes ON transactions.item = codes.item
GROUP BY transactions.item

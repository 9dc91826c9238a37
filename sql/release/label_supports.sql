-- reads: transactions(item)
-- params: none
-- returns: item, support
-- grain: item
-- The support of every released item.
SELECT item, count(*) AS support FROM transactions GROUP BY item ORDER BY item

-- reads: transactions(tid, item)
-- params: least
-- returns: code, item, support
-- grain: item
-- Items with at least the given support, numbered from 1, the rarest first: an itemset is grown from its rarest item,
-- which leaves the fewest candidates.
SELECT CAST(row_number() OVER (ORDER BY support, item) AS INTEGER) AS code, item, support
FROM (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS supports
WHERE support >= getvariable('least')

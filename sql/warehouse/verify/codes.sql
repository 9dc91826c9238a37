-- reads: transactions(tid, item)
-- params: least
-- returns: code, item, support
-- grain: item
-- Items with a minimal support, numbered from 1 by ascending support: growing an itemset from its rarest item gives the
-- fewest candidates.
SELECT CAST(row_number() OVER (ORDER BY support, item) AS INTEGER) AS code, item, support
FROM (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS supports
WHERE support >= getvariable('least')

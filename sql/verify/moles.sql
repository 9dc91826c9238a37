-- reads: occurrences(tid, itemset), private(tid, item)
-- params: k, h_numerator, h_denominator
-- returns: itemset, support
-- grain: itemset
-- The moles among the itemsets: held by fewer than k transactions, or more than the share h of these holds a private item.
WITH supports AS (SELECT itemset, count(*) AS support FROM occurrences GROUP BY itemset),
together AS (
    SELECT occurrences.itemset, private.item, count(*) AS both_
    FROM occurrences
    JOIN private ON occurrences.tid = private.tid
    GROUP BY occurrences.itemset, private.item
)
SELECT supports.itemset, supports.support
FROM supports
WHERE
    supports.support < getvariable('k')
    OR EXISTS (
        SELECT 1
        FROM together
        WHERE
            together.itemset = supports.itemset
            AND CAST(together.both_ AS DECIMAL(38, 0)) * getvariable('h_denominator')
            > CAST(supports.support AS DECIMAL(38, 0)) * getvariable('h_numerator')
    )
ORDER BY supports.itemset

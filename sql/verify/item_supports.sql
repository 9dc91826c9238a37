-- reads: transactions(tid, item), items(item, label), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: k, m
-- returns: violation, items, support
-- grain: violation, items
-- What is wrong with the item supports of a release (docs/item_supports.md#the-verifier): no row means that every set of up to
-- m items (m NULL: of any size) may be held by nobody, or by k transactions or more. support is the number of transactions that
-- show the released item. A released item that fewer than k transactions show needs no rows.
WITH shown AS (
    SELECT items.label AS released_item, count(DISTINCT transactions.tid) AS support
    FROM transactions
    JOIN items ON transactions.item = items.item
    GROUP BY items.label
),
members AS (
    SELECT released_item, item, count(*) OVER (PARTITION BY released_item) AS size
    FROM (SELECT DISTINCT released_item, item FROM released_items) AS named
),
listed AS (
    SELECT released_item, item, at_least, at_most, weight, count(*) OVER (PARTITION BY released_item, item) AS copies
    FROM item_supports
),
compared AS (
    SELECT
        coalesce(listed.released_item, members.released_item) AS released_item,
        coalesce(listed.item, members.item) AS item,
        members.size, listed.at_least, listed.at_most, listed.weight, listed.copies,
        coalesce(shown.support, 0) AS support
    FROM listed
    FULL JOIN members ON listed.released_item = members.released_item AND listed.item = members.item
    LEFT JOIN shown ON members.released_item = shown.released_item
),
totals AS (
    SELECT
        released_item,
        any_value(size) AS size,
        any_value(support) AS support,
        sum(at_most) AS at_most,
        1 - product(1 - coalesce(weight, 0) * (at_least + at_most) / (2 * support) ORDER BY at_least ASC, at_most ASC) AS held,
        sum(at_least + at_most) / (2 * any_value(support)) AS shares,
        min(weight) AS least_weight,
        max(weight) AS most_weight
    FROM compared
    WHERE size > 1 AND at_most IS NOT NULL AND support > 0
    GROUP BY released_item
)
SELECT 'a member of a released item has no item support' AS violation, [released_item, item] AS items, support
FROM compared
WHERE size > 1 AND copies IS NULL AND support >= getvariable('k')
UNION ALL
SELECT 'an item support is of no member of its released item, or of one that stands for itself alone', [released_item, item], support
FROM compared
WHERE copies > 0 AND coalesce(size, 0) < 2
UNION ALL
SELECT 'an item support is repeated', [released_item, item], support
FROM compared
WHERE copies > 1
UNION ALL
SELECT 'the bounds of an item are out of order', [released_item, item], support
FROM compared
WHERE copies > 0 AND size > 1 AND NOT coalesce(at_least >= 0 AND at_least <= at_most AND at_most <= support, false)
UNION ALL
SELECT 'the upper bound of an item is below k', [released_item, item], support
FROM compared
WHERE copies > 0 AND size > 1 AND at_most < getvariable('k')
UNION ALL
SELECT 'the upper bounds of a released item are too small for its transactions', [released_item], support
FROM totals
WHERE at_most < support
UNION ALL
SELECT 'the upper bounds leave no room for several members in k transactions', [released_item], support
FROM totals
WHERE at_most - support < (least(coalesce(getvariable('m'), size), size) - 1) * getvariable('k')
UNION ALL
SELECT 'the weight of a released item is not that of its bounds', [released_item], support
FROM totals
WHERE coalesce(least_weight <> most_weight OR least_weight IS NULL, true)
    OR CASE WHEN shares > 1.000001 THEN NOT (least_weight > 0 AND abs(held / least_weight - 1) < 0.000001) ELSE least_weight <> 0 END

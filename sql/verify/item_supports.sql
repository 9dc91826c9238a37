-- reads: transactions(tid, item), items(item, label), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: k, m
-- returns: violation, items, support
-- grain: violation, items
-- What is wrong with the item supports of a release (docs/item_supports.md#the-verifier): no row means that every set of up to
-- m items (m NULL: of any size) may be held by nobody, or by k transactions or more. support is the number of transactions that
-- show the released item. A released item that fewer than k transactions show needs no rows.
WITH shown AS (
    SELECT items.label AS released_item, counted.support
    FROM (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS counted
    JOIN items ON counted.item = items.item
),
both_tables AS (
    SELECT
        released_item, item, true AS named,
        CAST(NULL AS HUGEINT) AS at_least, CAST(NULL AS HUGEINT) AS at_most, CAST(NULL AS DOUBLE) AS weight
    FROM released_items
    UNION ALL
    SELECT
        released_item, item, false AS named,
        CAST(at_least AS HUGEINT) AS at_least, CAST(at_most AS HUGEINT) AS at_most, weight
    FROM item_supports
),
pairs AS (
    SELECT
        released_item, item,
        bool_or(named) AS named,
        count(*) FILTER (WHERE NOT named) AS copies,
        max(at_least) AS at_least, max(at_most) AS at_most, max(weight) AS weight
    FROM both_tables
    GROUP BY released_item, item
),
compared AS (
    SELECT
        pairs.released_item, pairs.item, pairs.named, pairs.copies, pairs.at_least, pairs.at_most, pairs.weight,
        count(*) FILTER (WHERE pairs.named) OVER (PARTITION BY pairs.released_item) AS size,
        coalesce(shown.support, 0) AS support
    FROM pairs
    LEFT JOIN shown ON pairs.released_item = shown.released_item
),
judged AS (
    SELECT
        released_item, item, support,
        CASE
            WHEN copies = 0 THEN
                CASE WHEN size > 1 AND support >= getvariable('k') THEN 'a member of a released item has no item support' END
            WHEN NOT named OR size < 2 THEN 'an item support is of no member of its released item, or of one that stands for itself alone'
            WHEN copies > 1 THEN 'an item support is repeated'
            WHEN NOT coalesce(at_least >= 0 AND at_least <= at_most AND at_most <= support, false)
                THEN 'the bounds of an item are out of order'
            WHEN at_most < getvariable('k') THEN 'the upper bound of an item is below k'
        END AS violation
    FROM compared
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
        count(*) = count(weight) AND min(weight) = max(weight) AS constant
    FROM compared
    WHERE named AND size > 1 AND at_most IS NOT NULL AND support > 0
    GROUP BY released_item
),
judged_together AS (
    SELECT
        released_item, support,
        CASE
            WHEN at_most < support THEN 'the upper bounds of a released item are too small for its transactions'
            WHEN at_most - support < (least(coalesce(getvariable('m'), size), size) - 1) * getvariable('k')
                THEN 'the upper bounds leave no room for several members in k transactions'
            WHEN NOT coalesce(constant, false)
                OR CASE
                    WHEN shares > 1.000001 THEN NOT (least_weight > 0 AND abs(held / least_weight - 1) < 0.000001)
                    ELSE least_weight <> 0
                END
                THEN 'the weight of a released item is not that of its bounds'
        END AS violation
    FROM totals
)
SELECT violation, [released_item, item] AS items, support FROM judged WHERE violation IS NOT NULL
UNION ALL
SELECT violation, [released_item] AS items, support FROM judged_together WHERE violation IS NOT NULL

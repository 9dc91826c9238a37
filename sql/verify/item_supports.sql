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
    SELECT released_item, item, false AS named, at_least, at_most, weight FROM item_supports
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
totals AS (
    SELECT
        pairs.released_item,
        count(*) FILTER (WHERE pairs.named) AS size,
        coalesce(any_value(shown.support), 0) AS support,
        sum(pairs.at_most) FILTER (WHERE pairs.named) AS at_most,
        1 - product(1 - pairs.weight * (pairs.at_least + pairs.at_most) / (2 * shown.support) ORDER BY pairs.at_least ASC, pairs.at_most ASC)
            FILTER (WHERE pairs.named) AS held,
        sum(pairs.at_least + pairs.at_most) FILTER (WHERE pairs.named) / (2 * any_value(shown.support)) AS shares,
        min(pairs.weight) FILTER (WHERE pairs.named AND pairs.at_most IS NOT NULL) AS least_weight,
        max(pairs.weight) FILTER (WHERE pairs.named AND pairs.at_most IS NOT NULL) AS most_weight,
        count(pairs.at_most) FILTER (WHERE pairs.named AND pairs.weight IS NULL) AS unweighted
    FROM pairs
    LEFT JOIN shown ON pairs.released_item = shown.released_item
    GROUP BY pairs.released_item
),
judged AS (
    SELECT
        [pairs.released_item, pairs.item] AS items, totals.support,
        CASE
            WHEN pairs.copies = 0 THEN
                CASE WHEN totals.size > 1 AND totals.support >= getvariable('k') THEN 'a member of a released item has no item support' END
            WHEN NOT pairs.named OR totals.size < 2 THEN 'an item support is of no member of its released item, or of one that stands for itself alone'
            WHEN pairs.copies > 1 THEN 'an item support is repeated'
            WHEN NOT coalesce(pairs.at_least >= 0 AND pairs.at_least <= pairs.at_most AND pairs.at_most <= totals.support, false)
                THEN 'the bounds of an item are out of order'
            WHEN pairs.at_most < getvariable('k') THEN 'the upper bound of an item is below k'
        END AS violation
    FROM pairs JOIN totals ON pairs.released_item IS NOT DISTINCT FROM totals.released_item
    UNION ALL
    SELECT
        [released_item] AS items, support,
        CASE
            WHEN at_most < support THEN 'the upper bounds of a released item are too small for its transactions'
            WHEN at_most - support < (least(coalesce(getvariable('m'), size), size) - 1) * getvariable('k')
                THEN 'the upper bounds leave no room for several members in k transactions'
            WHEN NOT coalesce(unweighted = 0 AND least_weight = most_weight, false)
                OR CASE
                    WHEN shares > 1.000001 THEN NOT (least_weight > 0 AND abs(held / least_weight - 1) < 0.000001)
                    ELSE least_weight <> 0
                END
                THEN 'the weight of a released item is not that of its bounds'
        END AS violation
    FROM totals
    WHERE size > 1 AND support > 0 AND at_most IS NOT NULL
)
SELECT violation, items, support FROM judged WHERE violation IS NOT NULL

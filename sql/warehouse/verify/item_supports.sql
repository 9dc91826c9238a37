-- reads: transactions(tid, item), items(item, label), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: k, m
-- returns: violation, released_item, item, support
-- grain: violation, released_item, item
-- What is wrong with the item supports of a release (docs/item_supports.md#the-verifier): no row means that every set of up to
-- m items (m NULL: of any size) may be held by nobody, or by k transactions or more. The item is NULL where the members of a
-- released item are wrong together. support is the number of transactions that show the released item. A released item that fewer
-- than k transactions show needs no rows. Sums are floats: no bound of a stranger is too large for them.
WITH shown AS (
    SELECT items.label AS released_item, counted.support
    FROM (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS counted
    JOIN items ON counted.item = items.item
),
both_tables AS (
    SELECT
        released_item, item, 1 AS named, CAST(NULL AS BIGINT) AS at_least, CAST(NULL AS BIGINT) AS at_most, CAST(NULL AS DOUBLE) AS weight
    FROM released_items
    UNION ALL
    SELECT released_item, item, 0 AS named, at_least, at_most, weight FROM item_supports
),
pairs AS (
    SELECT
        released_item, item,
        max(named) AS named,
        count(*) FILTER (WHERE named = 0) AS copies,
        max(at_least) AS at_least, max(at_most) AS at_most, max(weight) AS weight
    FROM both_tables
    GROUP BY released_item, item
),
shares AS (
    SELECT
        pairs.released_item, pairs.item, pairs.named, pairs.copies, pairs.at_least, pairs.at_most, pairs.weight,
        coalesce(shown.support, 0) AS support,
        (CAST(pairs.at_least AS DOUBLE) + pairs.at_most) / (2 * CAST(shown.support AS DOUBLE)) AS share
    FROM pairs
    LEFT JOIN shown ON pairs.released_item = shown.released_item
),
totals AS (
    SELECT
        released_item,
        sum(named) AS size,
        max(support) AS support,
        sum(CAST(at_most AS DOUBLE)) FILTER (WHERE named = 1) AS at_most,
        sum(share) FILTER (WHERE named = 1) AS shares,
        min(1 - weight * share) FILTER (WHERE named = 1) AS least_factor,
        sum(ln(CASE WHEN weight * share < 1 THEN 1 - weight * share END)) FILTER (WHERE named = 1) AS logarithm,
        min(weight) FILTER (WHERE named = 1 AND at_most IS NOT NULL) AS least_weight,
        max(weight) FILTER (WHERE named = 1 AND at_most IS NOT NULL) AS most_weight,
        count(at_most) FILTER (WHERE named = 1 AND weight IS NULL) AS unweighted
    FROM shares
    GROUP BY released_item
),
judged AS (
    SELECT
        shares.released_item, shares.item, totals.support,
        CASE
            WHEN shares.copies = 0 THEN
                CASE WHEN totals.size > 1 AND totals.support >= getvariable('k') THEN 'a member of a released item has no item support' END
            WHEN shares.named = 0 OR totals.size < 2 THEN 'an item support is of no member of its released item, or of one that stands for itself alone'
            WHEN shares.copies > 1 THEN 'an item support is repeated'
            WHEN NOT coalesce(shares.at_least >= 0 AND shares.at_least <= shares.at_most AND shares.at_most <= totals.support, 1 = 0)
                THEN 'the bounds of an item are out of order'
            WHEN shares.at_most < getvariable('k') THEN 'the upper bound of an item is below k'
        END AS violation
    FROM shares JOIN totals ON shares.released_item IS NOT DISTINCT FROM totals.released_item
    UNION ALL
    SELECT
        released_item, CAST(NULL AS TEXT) AS item, support,
        CASE
            WHEN at_most < support THEN 'the upper bounds of a released item are too small for its transactions'
            WHEN at_most - support < (least(coalesce(getvariable('m'), size), size) - 1) * getvariable('k')
                THEN 'the upper bounds leave no room for several members in k transactions'
            WHEN NOT coalesce(unweighted = 0 AND least_weight = most_weight, 1 = 0)
                OR CASE
                    WHEN NOT most_weight <= 1 THEN 1 = 1
                    WHEN shares <= 1.000001 THEN least_weight <> 0
                    WHEN least_weight <= 0 THEN 1 = 1
                    ELSE abs((1 - CASE WHEN least_factor <= 0 THEN 0 ELSE exp(logarithm) END) / least_weight - 1) >= 0.000001
                END
                THEN 'the weight of a released item is not that of its bounds'
        END AS violation
    FROM totals
    WHERE size > 1 AND support > 0 AND at_most IS NOT NULL
)
SELECT violation, released_item, item, support FROM judged WHERE violation IS NOT NULL

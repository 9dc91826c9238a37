-- reads: expected(item_id, released_item, item, support, at_least, at_most, expected), wanted(item)
-- params: none
-- returns: item_id, released_item, item, support, queried, at_least, at_most, share, weight
-- grain: released_item, item
-- The members of released items that stand for queried items: whether they are queried, the expected share of the transactions that hold them, and the weight of
-- the released item. Each transaction that shows it holds a member. If members are held independently but for that, with
-- probability weight * share each, then weight = 1 - product of (1 - weight * share), and q members are held together with the
-- product of their shares and weight^(q-1). The weight is 0 where the shares add up to 1, but for errors of doubles; else
-- halving finds it, where it is needed: where several members are queried.
WITH RECURSIVE halved AS (
    SELECT
        members.item_id, members.released_item, members.item, members.support, members.queried, members.at_least,
        members.at_most, members.share,
        CASE WHEN members.total > 1.000001 THEN CAST(0.5 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS weight,
        CASE WHEN members.total > 1.000001 AND members.n_queried > 1 THEN 1 ELSE 40 END AS step
    FROM (
        SELECT
            shares.item_id, shares.released_item, shares.item, shares.support, shares.queried, shares.at_least, shares.at_most,
            shares.share, count(*) FILTER (WHERE shares.queried) OVER (PARTITION BY shares.released_item) AS n_queried,
            sum(shares.share) OVER (
                PARTITION BY shares.released_item ORDER BY shares.item ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
            ) AS total
        FROM (
            SELECT
                expected.item_id, expected.released_item, expected.item, expected.support, wanted.item IS NOT NULL AS queried,
                expected.at_least, expected.at_most,
                CASE WHEN expected.support > 0 THEN expected.expected / expected.support ELSE CAST(0 AS DOUBLE) END AS share
            FROM expected
            LEFT JOIN wanted ON expected.item = wanted.item
        ) AS shares
    ) AS members
    WHERE members.n_queried > 0
    UNION ALL
    SELECT
        tried.item_id, tried.released_item, tried.item, tried.support, tried.queried, tried.at_least, tried.at_most, tried.share,
        tried.weight + CASE WHEN 1 - exp(sum(tried.logarithm) OVER (
            PARTITION BY tried.released_item ORDER BY tried.item ASC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )) > tried.weight THEN 1 ELSE -1 END * pow(CAST(0.5 AS DOUBLE), tried.step + 1) AS weight,
        tried.step + 1 AS step
    FROM (
        SELECT
            halved.item_id, halved.released_item, halved.item, halved.support, halved.queried, halved.at_least, halved.at_most,
            halved.share, halved.weight, halved.step, ln(greatest(1 - halved.weight * halved.share, CAST(1e-300 AS DOUBLE))) AS logarithm
        FROM halved
        WHERE halved.step < 40
    ) AS tried
)
SELECT
    halved.item_id, halved.released_item, halved.item, halved.support, halved.queried, halved.at_least, halved.at_most,
    halved.share, halved.weight
FROM halved
WHERE halved.step = 40

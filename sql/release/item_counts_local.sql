-- reads: transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id, copies), labels(item_id, item), released_items(released_item, item), manifest(key, value), expected(item, expected), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a local recoding: what count_bounds says of each original item alone, see its proof.
--
-- Released items of a set are disjoint, so that the expected holders of an item add up over the released items above it. Those of a
-- bag may stand for the same item, but only as nodes of one taxonomy do: of two, one has all
-- members of the other. So each transaction that has something for an item has one topmost of them, and its chance to hold
-- the item, 1 minus the product of what each of them misses, is the sum over them of what each adds to those above it. Both
-- sums can be taken by released item, without writing down what stands for each item in each transaction.
WITH sizes AS (
    SELECT labels.item_id, count(*) AS size
    FROM labels JOIN released_items ON labels.item = released_items.released_item
    GROUP BY labels.item_id
),
nested AS (
    SELECT DISTINCT below.item_id AS below_id, above.item_id AS above_id
    FROM (
        SELECT labels.item_id, released_items.item, sizes.size
        FROM labels
        JOIN released_items ON labels.item = released_items.released_item
        JOIN sizes ON labels.item_id = sizes.item_id
    ) AS below
    JOIN (
        SELECT labels.item_id, released_items.item, sizes.size
        FROM labels
        JOIN released_items ON labels.item = released_items.released_item
        JOIN sizes ON labels.item_id = sizes.item_id
    ) AS above ON below.item = above.item
    WHERE below.size < above.size OR (below.size = above.size AND below.item_id > above.item_id)
),
held AS (
    SELECT
        transaction_items.transaction_id,
        transaction_items.item_id,
        transaction_ids.complete,
        sizes.size,
        least(1, transaction_items.copies / CAST(sizes.size AS DOUBLE)) AS chance
    FROM transaction_items
    JOIN transaction_ids ON transaction_items.transaction_id = transaction_ids.transaction_id
    JOIN sizes ON transaction_items.item_id = sizes.item_id
),
above_each AS (
    SELECT
        held.transaction_id,
        held.item_id,
        product(1 - upper_one.chance ORDER BY upper_one.chance ASC) AS missed,
        count(*) FILTER (WHERE upper_one.size = 1) AS n_certain
    FROM held
    JOIN nested ON held.item_id = nested.below_id
    JOIN held AS upper_one ON held.transaction_id = upper_one.transaction_id AND nested.above_id = upper_one.item_id
    GROUP BY held.transaction_id, held.item_id
),
judged AS (
    SELECT
        held.item_id,
        held.size = 1 AND coalesce(above_each.n_certain, 0) = 0 AS certain,
        held.complete AND above_each.transaction_id IS NULL AS possible,
        held.chance * coalesce(above_each.missed, 1) AS expected,
        count(*) AS weight
    FROM held
    LEFT JOIN above_each ON held.transaction_id = above_each.transaction_id AND held.item_id = above_each.item_id
    GROUP BY 1, 2, 3, 4
),
counted AS (
    SELECT
        judged.item_id,
        coalesce(sum(judged.weight) FILTER (WHERE judged.certain), 0) AS certain,
        coalesce(sum(judged.weight) FILTER (WHERE judged.possible), 0) AS possible,
        sum(judged.weight * judged.expected ORDER BY judged.expected ASC, judged.weight ASC) AS expected
    FROM judged
    GROUP BY judged.item_id
),
added AS (
    SELECT
        released_items.item,
        coalesce(sum(counted.certain), 0) AS certain,
        coalesce(sum(counted.expected ORDER BY counted.expected ASC), 0) AS expected,
        coalesce(sum(counted.possible), 0) AS possible
    FROM released_items
    LEFT JOIN labels ON released_items.released_item = labels.item
    LEFT JOIN counted ON labels.item_id = counted.item_id
    GROUP BY released_items.item
),
of_sets AS (
    SELECT expected.item, sum(expected.expected ORDER BY expected.expected ASC) AS expected
    FROM expected
    GROUP BY expected.item
),
incomplete AS (
    SELECT count(*) AS n FROM transaction_ids WHERE NOT transaction_ids.complete
)
SELECT
    added.item,
    CAST(added.certain AS BIGINT) AS lower_bound,
    CAST(CASE WHEN semantics.atomic THEN added.expected ELSE of_sets.expected END AS DOUBLE) AS estimate,
    CAST(added.possible + incomplete.n AS BIGINT) AS upper_bound
FROM added
JOIN of_sets ON added.item = of_sets.item
CROSS JOIN incomplete
CROSS JOIN (SELECT max(manifest.value) = 'atomic' AS atomic FROM manifest WHERE manifest.key = 'semantics') AS semantics
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY added.item ASC

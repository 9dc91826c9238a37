-- reads: asked(released_item), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most), manifest(key, value)
-- params: none
-- returns: item_id, released_item, item, support, size, n, at_least, at_most, known
-- grain: released_item, item
-- The members of the asked released items: how many transactions show the released item (support), how many members it has, at
-- least and at most how many of those transactions hold the member, and, where the item supports say it, how many are expected to
-- (anondb/answers/expected.py): the middle of the bounds, but sqrt(k) if they end at k; where these are too few for
-- the transactions, each is raised by the same share of its room. known is NULL where a released item has no item supports.
-- Without item supports a released item gives no bounds, and one that stands for a single item is held by all that show it.
-- Bags, whose copies say how many hold a member, need no fit: known is 0.
-- Every column is qualified: a parameter of a macro may be called like it. Sums of doubles have an order, not to depend on threads.
SELECT
    summed.item_id, summed.released_item, summed.item, summed.support, summed.size, summed.n, summed.at_least, summed.at_most,
    CASE
        WHEN summed.n_middles < summed.size THEN NULL
        WHEN summed.total < summed.support AND summed.total < summed.total_most
            THEN summed.middle
                + (summed.support - summed.total) / (summed.total_most - summed.total) * (summed.at_most - summed.middle)
        ELSE summed.middle
    END AS known
FROM (
    SELECT
        middles.item_id, middles.released_item, middles.item, middles.support, middles.size, middles.n, middles.at_least,
        middles.at_most, middles.middle,
        count(middles.middle) OVER (PARTITION BY middles.released_item) AS n_middles,
        sum(middles.at_most) OVER (PARTITION BY middles.released_item) AS total_most,
        sum(middles.middle) OVER (
            PARTITION BY middles.released_item ORDER BY middles.item ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS total
    FROM (
        SELECT
            sized.item_id, sized.released_item, sized.item, sized.support, sized.size, persons.n,
            coalesce(sized.at_least, CASE WHEN sized.size = 1 THEN sized.support ELSE 0 END) AS at_least,
            coalesce(sized.at_most, sized.support) AS at_most,
            CAST(CASE
                WHEN persons.of_bags THEN 0
                WHEN sized.size = 1 OR sized.support = 0 THEN sized.support
                WHEN sized.at_most = persons.k THEN greatest(sized.at_least, sqrt(persons.k))
                ELSE (sized.at_least + sized.at_most) / CAST(2 AS DOUBLE)
            END AS DOUBLE) AS middle
        FROM (
            SELECT
                shown.item_id, shown.released_item, released_items.item, shown.support, item_supports.at_least,
                item_supports.at_most, count(*) OVER (PARTITION BY shown.released_item) AS size
            FROM (
                SELECT labels.item_id, asked.released_item, count(transaction_items.transaction_id) AS support
                FROM asked
                LEFT JOIN labels ON asked.released_item = labels.item
                LEFT JOIN transaction_items ON labels.item_id = transaction_items.item_id
                GROUP BY labels.item_id, asked.released_item
            ) AS shown
            JOIN released_items ON shown.released_item = released_items.released_item
            LEFT JOIN item_supports
                ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
        ) AS sized
        CROSS JOIN (
            SELECT
                (SELECT count(*) FROM transaction_ids) AS n,
                (SELECT max(CAST(manifest.value AS DOUBLE)) FROM manifest WHERE manifest.key = 'k') AS k,
                coalesce((SELECT max(manifest.value) FROM manifest WHERE manifest.key = 'semantics') = 'atomic', false) AS of_bags
        ) AS persons
    ) AS middles
) AS summed

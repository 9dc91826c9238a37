-- reads: names(query_id, name), queries(query_id, item), items(item, label), counts(query_id, lower_bound, estimate, upper_bound), truths(set_id, support)
-- params: transactions
-- returns: query_id, items, truth, estimate, lower_bound, upper_bound, relative_error
-- grain: query_id
-- Each query's true count beside its estimate and bounds on a release, whose counts may lack queries that nobody may hold.
WITH listed AS (
    SELECT queries.query_id, array_sort(list(items.label)) AS items
    FROM queries
    JOIN items ON queries.item = items.item
    GROUP BY queries.query_id
),
counted AS (
    SELECT
        names.query_id AS position,
        names.name AS query_id,
        coalesce(listed.items, CAST([] AS VARCHAR[])) AS items,
        CASE WHEN listed.items IS NULL THEN getvariable('transactions') ELSE coalesce(truths.support, 0) END AS truth,
        CASE WHEN listed.items IS NULL THEN getvariable('transactions') ELSE coalesce(counts.estimate, 0) END AS estimate,
        CASE WHEN listed.items IS NULL THEN getvariable('transactions') ELSE coalesce(counts.lower_bound, 0) END AS lower_bound,
        CASE WHEN listed.items IS NULL THEN getvariable('transactions') ELSE coalesce(counts.upper_bound, 0) END AS upper_bound
    FROM names
    LEFT JOIN listed ON names.query_id = listed.query_id
    LEFT JOIN truths ON names.query_id = truths.set_id
    LEFT JOIN counts ON names.query_id = counts.query_id
)
SELECT
    query_id,
    items,
    CAST(truth AS BIGINT) AS truth,
    CAST(estimate AS DOUBLE) AS estimate,
    CAST(lower_bound AS BIGINT) AS lower_bound,
    CAST(upper_bound AS BIGINT) AS upper_bound,
    CASE WHEN truth > 0 THEN abs(truth - estimate) / CAST(truth AS DOUBLE) END AS relative_error
FROM counted
ORDER BY position

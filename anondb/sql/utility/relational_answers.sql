-- reads: names(query_id, name), queries(query_id, item), items(item, label), figures(query_id, truth, estimate, lower_bound, upper_bound)
-- params: none
-- returns: query_id, items, truth, estimate, lower_bound, upper_bound, relative_error
-- grain: query_id
-- Each query's figures under its name, with its items.
WITH listed AS (
    SELECT queries.query_id, array_sort(list(items.label)) AS items
    FROM queries
    JOIN items ON queries.item = items.item
    GROUP BY queries.query_id
)
SELECT
    names.name AS query_id,
    coalesce(listed.items, CAST([] AS VARCHAR[])) AS items,
    figures.truth,
    figures.estimate,
    figures.lower_bound,
    figures.upper_bound,
    CASE WHEN figures.truth > 0 THEN abs(figures.truth - figures.estimate) / figures.truth END AS relative_error
FROM names
JOIN figures ON names.query_id = figures.query_id
LEFT JOIN listed ON names.query_id = listed.query_id
ORDER BY names.query_id ASC

-- reads: source(id), ids(tid, id)
-- params: none
-- returns: total, null_ids, distinct_ids, matched
-- grain: one row
-- How many rows, NULL ids and distinct ids a table of records has, and how many of the ids of all transactions it holds.
SELECT
    count(*) AS total,
    count(*) FILTER (WHERE source.id IS NULL) AS null_ids,
    count(DISTINCT source.id) AS distinct_ids,
    count(DISTINCT ids.tid) AS matched
FROM source
LEFT JOIN ids ON source.id = ids.id

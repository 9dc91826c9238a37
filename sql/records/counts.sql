-- reads: source(id), ids(tid, id)
-- params: none
-- returns: total, null_ids, distinct_ids, matched
-- grain: one row
-- The number of rows, NULL ids and distinct ids of a table of records, and of transactions whose ids it holds.
SELECT
    count(*) AS total,
    count(*) FILTER (WHERE source.id IS NULL) AS null_ids,
    count(DISTINCT source.id) AS distinct_ids,
    count(DISTINCT ids.tid) AS matched
FROM source
LEFT JOIN ids ON source.id = ids.id

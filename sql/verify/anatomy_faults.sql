-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: rows_
-- grain: one row
-- The number of malformed rows: without an id, a list, or a number of copies of at least 1, or with a NULL in the list.
SELECT count(*) AS rows_
FROM buckets
WHERE
    bucket_id IS NULL OR column_id IS NULL OR items IS NULL OR copies IS NULL OR copies < 1
    OR len(list_filter(items, lambda item : item IS NULL)) > 0

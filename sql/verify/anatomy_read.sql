-- reads: source(bucket_id, column_id, items, copies)
-- params: none
-- returns: bucket_id, column_id, items, copies
-- grain: row
-- A table of buckets as text and integers.
SELECT
    CAST(bucket_id AS VARCHAR) AS bucket_id,
    CAST(column_id AS VARCHAR) AS column_id,
    CAST(items AS VARCHAR[]) AS items,
    CAST(copies AS BIGINT) AS copies
FROM source

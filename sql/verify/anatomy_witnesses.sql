-- reads: violations(bucket_id, column_id, size, top), vals(bucket_id, column_id, items, copies)
-- params: how_many, count_empty
-- returns: bucket_id, column_id, items, support, size
-- grain: bucket_id, column_id
-- The first violating pairs, the worst first, each with its most frequent value that counts ([] if it has none).
WITH ranked AS (
    SELECT
        bucket_id, column_id, items, copies,
        row_number() OVER (PARTITION BY bucket_id, column_id ORDER BY copies DESC, len(items) ASC, items ASC) AS place
    FROM vals
    WHERE len(items) > 0 OR getvariable('count_empty')
)
SELECT
    violations.bucket_id,
    violations.column_id,
    coalesce(ranked.items, CAST([] AS VARCHAR[])) AS items,
    coalesce(ranked.copies, 0) AS support,
    violations.size
FROM violations
LEFT JOIN ranked
    ON violations.bucket_id = ranked.bucket_id AND violations.column_id = ranked.column_id AND ranked.place = 1
ORDER BY
    CAST(violations.top AS DOUBLE) / violations.size DESC,
    len(violations.bucket_id) ASC, violations.bucket_id ASC, len(violations.column_id) ASC, violations.column_id ASC
LIMIT getvariable('how_many')

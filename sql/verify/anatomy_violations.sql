-- reads: pairs(bucket_id, column_id, size, total, top, shared, columns)
-- params: over, under, columns
-- returns: bucket_id, column_id, size, top
-- grain: bucket_id, column_id
-- The pairs of bucket and column that break the promise, with l = over / under: a value is too frequent, the column lacks
-- values of the bucket's transactions, an item is in two columns, or there are fewer than two columns or not as many as
-- promised (0: any number).
SELECT bucket_id, column_id, size, top
FROM pairs
WHERE
    top * getvariable('over') > size * getvariable('under')
    OR total <> size
    OR shared
    OR columns < 2
    OR (getvariable('columns') > 0 AND columns <> getvariable('columns'))

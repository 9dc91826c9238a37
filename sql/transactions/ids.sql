-- reads: source(id, item)
-- params: none
-- returns: tid, id
-- grain: id
-- Every transaction, empty ones included, numbered from 1 in the order of the original ids.
SELECT CAST(row_number() OVER (ORDER BY id) AS INTEGER) AS tid, id
FROM (SELECT DISTINCT id FROM source) AS distinct_ids

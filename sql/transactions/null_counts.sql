-- reads: source(id, item)
-- params: none
-- returns: total, null_ids, null_items, longest
-- grain: one row
-- The number of rows, of NULL ids and of NULL items, and the length of the longest item in bytes, to refuse bad input first.
SELECT
    count(*) AS total,
    count(*) - count(id) AS null_ids,
    count(*) - count(item) AS null_items,
    CAST(coalesce(max(strlen(item)), 0) AS BIGINT) AS longest
FROM source

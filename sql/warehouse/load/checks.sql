-- reads: source(id, item)
-- params: none
-- returns: total, null_ids, null_items, longest, persons
-- grain: one row
-- The number of rows, of NULL ids, of NULL items and of persons, and the length of the longest item in characters, to refuse bad
-- input first.
SELECT
    count(*) AS total,
    count(*) - count(id) AS null_ids,
    count(*) - count(item) AS null_items,
    CAST(coalesce(max(length(item)), 0) AS BIGINT) AS longest,
    count(DISTINCT id) AS persons
FROM source

-- reads: source(id, item)
-- params: none
-- returns: total, null_ids, null_items, longest
-- grain: one row
-- What must be refused before anything is computed: NULL ids, NULL items, and items of absurd length (in bytes).
SELECT
    count(*) AS total,
    count(*) - count(id) AS null_ids,
    count(*) - count(item) AS null_items,
    CAST(coalesce(max(strlen(item)), 0) AS BIGINT) AS longest
FROM source

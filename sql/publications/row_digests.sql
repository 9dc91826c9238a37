-- reads: contents(row_id, persons, attribute_values), held(row_id, item, copies)
-- params: none
-- returns: persons, content, shown
-- grain: content, shown
-- The distinct rows of a release, and the number of transactions with each: a digest of the items with their copies, which is the
-- sum of a digest of each, and one of the relational values. Both have 63 bits.
WITH weights AS (
    SELECT item, copies, CAST(md5_number(CAST(copies AS TEXT) || ':' || CAST(item AS TEXT)) >> 65 AS BIGINT) AS weight
    FROM (SELECT DISTINCT item, copies FROM held) AS kinds
),
summed AS (
    SELECT held.row_id, CAST(sum(weights.weight) & 9223372036854775807 AS BIGINT) AS content
    FROM held
    JOIN weights ON held.item = weights.item AND held.copies = weights.copies
    GROUP BY held.row_id
)
SELECT
    CAST(sum(contents.persons) AS BIGINT) AS persons,
    coalesce(summed.content, 0) AS content,
    CAST(md5_number(CAST(contents.attribute_values AS TEXT)) >> 65 AS BIGINT) AS shown
FROM contents
LEFT JOIN summed ON contents.row_id = summed.row_id
GROUP BY ALL

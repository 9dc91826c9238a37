-- reads: contents(row_id, persons, attribute_values), weighted(row_id, weight, copies)
-- params: none
-- returns: persons, content, shown
-- grain: content, shown
-- The distinct rows of a release, and the number of transactions with each: a digest of the items with their copies, which is the
-- sum of a digest of each copy (its weight), and one of the relational values. Both have 63 bits.
WITH summed AS (
    SELECT row_id, CAST(sum(CAST(weight AS HUGEINT) * copies) & 9223372036854775807 AS BIGINT) AS content
    FROM weighted
    GROUP BY row_id
)
SELECT
    CAST(sum(contents.persons) AS BIGINT) AS persons,
    coalesce(summed.content, 0) AS content,
    CAST(md5_number(CAST(contents.attribute_values AS TEXT)) >> 65 AS BIGINT) AS shown
FROM contents
LEFT JOIN summed ON contents.row_id = summed.row_id
GROUP BY ALL

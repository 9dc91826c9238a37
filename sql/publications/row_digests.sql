-- reads: contents(row_id, persons, attribute_values), held(row_id, item, copies)
-- params: none
-- returns: persons, digest
-- grain: digest
-- The distinct rows of a release: a digest of each, which is the sum of the digests of its items with their copies and of its
-- relational values, and the number of transactions with it. A digest is three quarters of an MD5.
WITH weights AS (
    SELECT item, copies, CAST(md5_number(CAST(copies AS TEXT) || ':' || CAST(item AS TEXT)) >> 32 AS HUGEINT) AS weight
    FROM (SELECT DISTINCT item, copies FROM held) AS kinds
),
summed AS (
    SELECT held.row_id, sum(weights.weight) AS weight
    FROM held
    JOIN weights ON held.item = weights.item AND held.copies = weights.copies
    GROUP BY held.row_id
),
digested AS (
    SELECT
        contents.persons,
        coalesce(summed.weight, 0)
        + CAST(md5_number(CAST(contents.attribute_values AS TEXT)) >> 32 AS HUGEINT) AS digest
    FROM contents
    LEFT JOIN summed ON contents.row_id = summed.row_id
)
SELECT CAST(sum(persons) AS BIGINT) AS persons, digest FROM digested GROUP BY digest

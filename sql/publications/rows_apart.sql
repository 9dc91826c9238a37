-- reads: firsts(persons, digest), seconds(persons, digest)
-- params: k
-- returns: only_first, only_second, alone, below_k
-- grain: one row
-- The multiset difference of the rows of two releases: the numbers of rows in only one of them, of those without an equal in
-- the difference, and of those with fewer than k - 1 equals there.
WITH counted AS (
    SELECT sum(here) - sum(there) AS surplus
    FROM (
        SELECT persons AS here, 0 AS there, digest FROM firsts
        UNION ALL
        SELECT 0 AS here, persons AS there, digest FROM seconds
    ) AS both_releases
    GROUP BY digest
)
SELECT
    CAST(coalesce(sum(surplus) FILTER (WHERE surplus > 0), 0) AS BIGINT) AS only_first,
    CAST(coalesce(-sum(surplus) FILTER (WHERE surplus < 0), 0) AS BIGINT) AS only_second,
    count(*) FILTER (WHERE abs(surplus) = 1) AS alone,
    CAST(coalesce(sum(abs(surplus)) FILTER (WHERE abs(surplus) < getvariable('k')), 0) AS BIGINT) AS below_k
FROM counted

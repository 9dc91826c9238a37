-- reads: firsts(persons, content, shown), seconds(release_id, persons, content, shown), compared(release_id, k, valued)
-- params: none
-- returns: release_id, only_first, only_second, alone, below_k
-- grain: release_id
-- The multiset differences of the rows of a release and of each of several others: the numbers of rows in only one of the two,
-- of those without an equal in the difference, and of those with fewer than k - 1 equals there. Unless valued, relational values
-- (shown) do not count. Rows of the release that another lacks are all but those that it has, so the work depends on the others'.
WITH both_sides AS (
    SELECT '' AS release_id, kinds.valued, firsts.persons, firsts.content, firsts.shown
    FROM firsts
    CROSS JOIN (SELECT DISTINCT valued FROM compared) AS kinds
    UNION ALL
    SELECT compared.release_id, compared.valued, seconds.persons, seconds.content, seconds.shown
    FROM seconds
    JOIN compared ON seconds.release_id = compared.release_id
),
counted AS (
    SELECT release_id, valued, content, CASE WHEN valued THEN shown ELSE 0 END AS shown, sum(persons) AS number
    FROM both_sides
    GROUP BY ALL
),
ours AS (
    SELECT valued, content, shown, number AS here FROM counted WHERE release_id = ''
),
theirs AS (
    SELECT release_id, valued, content, shown, number AS there FROM counted WHERE release_id <> ''
),
groups AS (
    SELECT theirs.release_id, coalesce(ours.here, 0) AS here, theirs.there, count(*) AS number
    FROM theirs
    LEFT JOIN ours ON theirs.content = ours.content AND theirs.shown = ours.shown AND theirs.valued = ours.valued
    GROUP BY ALL
),
apart AS (
    SELECT release_id, here - there AS surplus, number FROM groups
    UNION ALL
    SELECT compared.release_id, sizes.here AS surplus, sizes.number
    FROM compared
    JOIN (SELECT valued, here, count(*) AS number FROM ours GROUP BY ALL) AS sizes ON compared.valued = sizes.valued
    UNION ALL
    SELECT release_id, here AS surplus, -number AS number FROM groups
)
SELECT
    compared.release_id,
    CAST(coalesce(sum(surplus * number) FILTER (WHERE surplus > 0), 0) AS BIGINT) AS only_first,
    CAST(coalesce(-sum(surplus * number) FILTER (WHERE surplus < 0), 0) AS BIGINT) AS only_second,
    CAST(coalesce(sum(number) FILTER (WHERE abs(surplus) = 1), 0) AS BIGINT) AS alone,
    CAST(coalesce(sum(abs(surplus) * number) FILTER (WHERE abs(surplus) < compared.k), 0) AS BIGINT) AS below_k
FROM compared
LEFT JOIN apart ON compared.release_id = apart.release_id
GROUP BY compared.release_id

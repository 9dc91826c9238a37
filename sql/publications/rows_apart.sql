-- reads: firsts(cells, persons, content, shown), seconds(release_id, cells, persons, content, shown), compared(pair, kind, first_cells, release_id, cells, k, valued)
-- params: none
-- returns: pair, only_first, only_second, alone, below_k
-- grain: pair
-- The multiset differences of the rows of a release and of each of several others, both as published or in cells: the numbers of
-- rows in only one of the two, of those without an equal in the difference, and of those with fewer than k - 1 equals there.
-- Unless valued, relational values (shown) do not count, and equal contents are added up. Pairs of one kind read the same rows
-- of the release. Rows of it that another lacks are all but those that it has, so the work depends on the others'.
WITH theirs AS (
    SELECT compared.pair, compared.kind, seconds.content, seconds.shown, seconds.persons AS there
    FROM seconds
    JOIN compared ON seconds.release_id = compared.release_id AND seconds.cells = compared.cells
    WHERE compared.valued
    UNION ALL
    SELECT compared.pair, compared.kind, seconds.content, 0 AS shown, CAST(sum(seconds.persons) AS BIGINT) AS there
    FROM seconds
    JOIN compared ON seconds.release_id = compared.release_id AND seconds.cells = compared.cells
    WHERE NOT compared.valued
    GROUP BY compared.pair, compared.kind, seconds.content
),
ours AS (
    SELECT
        kinds.kind,
        firsts.content,
        CASE WHEN kinds.valued THEN firsts.shown ELSE 0 END AS shown,
        CAST(sum(firsts.persons) AS BIGINT) AS here
    FROM firsts
    JOIN (SELECT DISTINCT kind, first_cells, valued FROM compared) AS kinds ON firsts.cells = kinds.first_cells
    GROUP BY ALL
),
groups AS (
    SELECT theirs.pair, coalesce(ours.here, 0) AS here, theirs.there, count(*) AS number
    FROM theirs
    LEFT JOIN ours ON theirs.content = ours.content AND theirs.shown = ours.shown AND theirs.kind = ours.kind
    GROUP BY ALL
),
apart AS (
    SELECT pair, here - there AS surplus, number FROM groups
    UNION ALL
    SELECT compared.pair, sizes.here AS surplus, sizes.number
    FROM compared
    JOIN (SELECT kind, here, count(*) AS number FROM ours GROUP BY ALL) AS sizes ON compared.kind = sizes.kind
    UNION ALL
    SELECT pair, here AS surplus, -number AS number FROM groups
)
SELECT
    compared.pair,
    CAST(coalesce(sum(surplus * number) FILTER (WHERE surplus > 0), 0) AS BIGINT) AS only_first,
    CAST(coalesce(-sum(surplus * number) FILTER (WHERE surplus < 0), 0) AS BIGINT) AS only_second,
    CAST(coalesce(sum(number) FILTER (WHERE abs(surplus) = 1), 0) AS BIGINT) AS alone,
    CAST(coalesce(sum(abs(surplus) * number) FILTER (WHERE abs(surplus) < compared.k), 0) AS BIGINT) AS below_k
FROM compared
LEFT JOIN apart ON compared.pair = apart.pair
GROUP BY compared.pair

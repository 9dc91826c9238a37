-- reads: candidates(world, label, member, wanted, tid, weight), raced(world, member, wanted, tid, weight, h)
-- params: none
-- returns: world, tid, member
-- grain: world, tid, member
-- Who holds each member in each world: all first holders, and of the other candidates as many as are wanted. The weight of a
-- transaction is its chance: those who show more hold more of what each stands for.
SELECT candidates.world, candidates.tid, candidates.member FROM candidates WHERE candidates.wanted = 0
UNION ALL
SELECT ordered.world, ordered.tid, ordered.member
FROM (
    SELECT
        raced.world, raced.tid, raced.member, raced.wanted,
        row_number() OVER (
            PARTITION BY raced.world, raced.member
            ORDER BY -ln((raced.h + 0.5) / 4294967296.0) / raced.weight ASC, raced.tid ASC
        ) AS number
    FROM raced
) AS ordered
WHERE ordered.number <= ordered.wanted

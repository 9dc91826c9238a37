-- reads: pairs(pair, first, second), drawn(world, tid, member)
-- params: none
-- returns: pair, world, n
-- grain: pair, world
-- How many transactions hold both members of a pair in each world. All pairs are counted first, for a few frequent members have
-- far more rows than transactions that hold two of them.
WITH counted AS (
    SELECT drawn.world, drawn.member AS first, others.member AS second, count(*) AS n
    FROM drawn
    JOIN drawn AS others
        ON drawn.world = others.world AND drawn.tid = others.tid AND drawn.member < others.member
    GROUP BY drawn.world, drawn.member, others.member
)
SELECT pairs.pair, counted.world, counted.n
FROM counted
JOIN pairs ON counted.first = pairs.first AND counted.second = pairs.second
ORDER BY pairs.pair ASC, counted.world ASC

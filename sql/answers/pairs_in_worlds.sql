-- reads: pairs(pair, first, second), drawn(world, tid, member)
-- params: none
-- returns: pair, world, n
-- grain: pair, world
-- How many transactions hold both members of a pair in each world.
SELECT pairs.pair, drawn.world, count(*) AS n
FROM pairs
JOIN drawn ON pairs.first = drawn.member
JOIN drawn AS others ON pairs.second = others.member AND drawn.world = others.world AND drawn.tid = others.tid
GROUP BY pairs.pair, drawn.world
ORDER BY pairs.pair ASC, drawn.world ASC

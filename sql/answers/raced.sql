-- reads: candidates(world, label, member, wanted, tid, weight), origins(label, tids_before, members_before, seed)
-- params: salt
-- returns: a, b, c, world, member, wanted, tid, weight
-- grain: world, member, tid
-- The candidates among whom ``wanted`` are chosen, with the arguments of their hash: their numbers in their own file, and the
-- salt of the world.
SELECT
    candidates.tid - origins.tids_before AS a,
    candidates.member - origins.members_before AS b,
    (candidates.world + origins.seed + CAST(getvariable('salt') AS BIGINT)) & 4294967295 AS c,
    candidates.world, candidates.member, candidates.wanted, candidates.tid, candidates.weight
FROM candidates
JOIN origins ON candidates.label = origins.label
WHERE candidates.wanted > 0

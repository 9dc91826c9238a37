-- reads: turns(h, world, label, tid, copies, tried, size, first, tids_before, members_before, seed, number)
-- params: salt
-- returns: a, b, c, step, world, label, tid, copies, tried, size, first, tids_before, members_before, seed
-- grain: world, label, tid
-- The same with the step that was chosen, and the arguments of the hash that chooses where the steps begin.
SELECT
    turns.number AS a,
    turns.tid - turns.tids_before AS b,
    (turns.world + turns.seed + CAST(getvariable('salt') AS BIGINT)) & 4294967295 AS c,
    1 + CAST(turns.h AS BIGINT) % turns.size AS step,
    turns.world, turns.label, turns.tid, turns.copies, turns.tried, turns.size, turns.first, turns.tids_before,
    turns.members_before, turns.seed
FROM turns

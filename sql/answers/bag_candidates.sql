-- reads: shifts(h, step, world, label, tid, copies, tried, size, first, tids_before, members_before, seed)
-- params: salt
-- returns: a, b, c, world, label, tid, copies, member
-- grain: world, label, tid, member
-- The members that a row of bags tries, with the arguments of their hash: places of the permutation of all members.
SELECT
    tried.tid - tried.tids_before AS a,
    tried.member - tried.members_before AS b,
    (tried.world + tried.seed + CAST(getvariable('salt') AS BIGINT)) & 4294967295 AS c,
    tried.world, tried.label, tried.tid, tried.copies, tried.member
FROM (
    SELECT
        placed.world, placed.label, placed.tid, placed.copies, placed.tids_before, placed.members_before, placed.seed,
        placed.first + (
            placed.step * placed.place + placed.place // (placed.size // gcd(placed.step, placed.size)) + placed.shift
        ) % placed.size AS member
    FROM (
        SELECT
            shifts.world, shifts.label, shifts.tid, shifts.copies, shifts.tids_before, shifts.members_before, shifts.seed,
            shifts.size, shifts.first, shifts.step, CAST(shifts.h AS BIGINT) AS shift, unnest(range(shifts.tried)) AS place
        FROM shifts
    ) AS placed
) AS tried

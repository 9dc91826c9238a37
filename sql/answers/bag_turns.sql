-- reads: rows(label, tid, copies), bags(label, number, level, size, first, tids_before, members_before, seed), below(label, tid, copies)
-- params: level, salt, worlds
-- returns: a, b, c, world, label, tid, copies, tried, size, first, tids_before, members_before, seed, number
-- grain: world, label, tid
-- The rows of bags that choose members at a level, in each world, with the arguments of the hash that chooses the steps
-- through the members. As many members are tried as there are: at most four for each copy, and those that others may have.
SELECT
    shown.tid - shown.tids_before AS a,
    shown.number AS b,
    (shown.world + shown.seed + CAST(getvariable('salt') AS BIGINT)) & 4294967295 AS c,
    shown.world, shown.label, shown.tid, shown.copies,
    least(4 * CAST(shown.copies AS BIGINT) + shown.before, shown.size) AS tried,
    shown.size, shown.first, shown.tids_before, shown.members_before, shown.seed, shown.number
FROM (
    SELECT
        rows.label, rows.tid, rows.copies, bags.number, bags.size, bags.first, bags.tids_before, bags.members_before, bags.seed,
        coalesce(below.copies, 0) AS before,
        unnest(range(getvariable('worlds'))) AS world
    FROM rows
    JOIN bags ON rows.label = bags.label
    LEFT JOIN below ON rows.label = below.label AND rows.tid = below.tid
    WHERE bags.level = getvariable('level')
) AS shown

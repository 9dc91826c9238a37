-- reads: counts(world, label, member, ordering, support, first_place, firsts, wanted, step, cycle, shift, others_step, others_cycle, others_shift), rows(label, tid), lengths(ordering, tid, place, weight)
-- params: none
-- returns: world, label, member, wanted, tid, weight
-- grain: world, member, tid, wanted
-- Who may hold each member of a released item in each world. The transactions that show the released item have ranks by one
-- of the orders in ``lengths``, and places from 0, which a permutation takes to ranks. A member holds the places from ``first_place`` on for which
-- it is the first member (``wanted`` = 0), and the best ``wanted`` of four times as many of the other places, by another
-- permutation. ``cycle`` is explained in ``anondb/answers/hashing.py``.
WITH firsts AS (
    SELECT
        counts.world, counts.label, counts.member, counts.ordering, counts.support, counts.step, counts.cycle, counts.shift,
        unnest(range(counts.first_place, counts.first_place + counts.firsts)) AS place
    FROM counts
    WHERE counts.firsts > 0
),
tried AS (
    SELECT
        counts.world, counts.label, counts.member, counts.ordering, counts.support, counts.step, counts.cycle, counts.shift, counts.wanted,
        counts.first_place + counts.firsts AS after_firsts, counts.support - counts.firsts AS others,
        counts.others_step, counts.others_cycle, counts.others_shift,
        unnest(range(least(4 * counts.wanted, counts.support - counts.firsts))) AS turn
    FROM counts
    WHERE counts.wanted > 0
),
places AS (
    SELECT world, label, member, ordering, support, step, cycle, shift, 0 AS wanted, place FROM firsts
    UNION ALL
    SELECT
        world, label, member, ordering, support, step, cycle, shift, wanted,
        (after_firsts + (others_step * turn + turn // others_cycle + others_shift) % others) % support AS place
    FROM tried
),
ranked AS (
    SELECT
        lengths.ordering, rows.label, rows.tid, lengths.weight,
        row_number() OVER (
            PARTITION BY lengths.ordering, rows.label ORDER BY lengths.place ASC, rows.tid ASC
        ) - 1 AS rank
    FROM rows
    JOIN lengths ON rows.tid = lengths.tid
    WHERE rows.label IN (SELECT counts.label FROM counts)
)
SELECT places.world, places.label, places.member, places.wanted, ranked.tid, ranked.weight
FROM places
JOIN ranked
    ON places.label = ranked.label
    AND places.ordering = ranked.ordering
    AND (places.step * places.place + places.place // places.cycle + places.shift) % places.support = ranked.rank

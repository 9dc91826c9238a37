-- reads: candidates(world, label, tid, copies, member, h), bag_items(member, item), drawn(world, tid, member), rows(label, tid), known(label, item)
-- params: none
-- returns: world, tid, member
-- grain: world, label, tid, copy
-- The members that rows of bags choose: of those that the transaction does not hold yet, in a random order, one for each copy; if
-- there are too few, they repeat. Where it holds all of them, these repeat.
WITH held AS (
    SELECT drawn.world, drawn.tid, bag_items.item FROM drawn JOIN bag_items ON drawn.member = bag_items.member
),
shown AS (
    SELECT DISTINCT rows.tid, known.item FROM rows JOIN known ON rows.label = known.label
),
marked AS (
    SELECT
        candidates.world, candidates.label, candidates.tid, candidates.copies, candidates.member, candidates.h,
        EXISTS (
            SELECT 1 FROM held
            WHERE held.world = candidates.world AND held.tid = candidates.tid AND held.item = bag_items.item
        ) OR EXISTS (SELECT 1 FROM shown WHERE shown.tid = candidates.tid AND shown.item = bag_items.item) AS taken
    FROM candidates
    JOIN bag_items ON candidates.member = bag_items.member
),
ordered AS (
    SELECT
        marked.world, marked.tid, marked.copies, marked.member,
        row_number() OVER (
            PARTITION BY marked.world, marked.label, marked.tid
            ORDER BY marked.taken ASC, -ln((marked.h + 0.5) / 4294967296.0) ASC, marked.member ASC
        ) - 1 AS place,
        count(*) FILTER (WHERE NOT marked.taken OR marked.all_taken) OVER (
            PARTITION BY marked.world, marked.label, marked.tid
        ) AS choices
    FROM (
        SELECT
            marked.world, marked.label, marked.tid, marked.copies, marked.member, marked.h, marked.taken,
            bool_and(marked.taken) OVER (PARTITION BY marked.world, marked.label, marked.tid) AS all_taken
        FROM marked
    ) AS marked
),
chosen AS (
    SELECT
        ordered.world, ordered.tid, ordered.member,
        unnest(range(ordered.place, CAST(ordered.copies AS BIGINT), ordered.choices)) AS copy
    FROM ordered
    WHERE ordered.place < ordered.choices
)
SELECT chosen.world, chosen.tid, chosen.member FROM chosen

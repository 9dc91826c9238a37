-- reads: rows(label, tid)
-- params: none
-- returns: ordering, tid, place, weight
-- grain: tid
-- The order of transactions by which they have ranks, that of their numbers, and the weight of each in a race: how many released
-- items it shows.
SELECT 0 AS ordering, rows.tid, rows.tid AS place, CAST(count(*) AS DOUBLE) AS weight FROM rows GROUP BY rows.tid

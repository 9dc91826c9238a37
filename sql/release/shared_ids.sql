-- reads: ids(tid, id), other_ids(tid, id)
-- params: none
-- returns: n
-- grain: one row
-- The number of persons in both of two sources, by their ids as text.
SELECT count(*) AS n
FROM ids
WHERE EXISTS (SELECT 1 FROM other_ids WHERE CAST(other_ids.id AS TEXT) = CAST(ids.id AS TEXT))

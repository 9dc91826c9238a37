-- reads: hits(set_id, tid, size)
-- params: place
-- returns: set_id, support
-- grain: set_id
-- The support of the sets whose last place has been checked.
SELECT set_id, count(*) AS support FROM hits WHERE size = getvariable('place') GROUP BY set_id

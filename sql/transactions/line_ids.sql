-- reads: lines(id)
-- params: none
-- returns: tid, id
-- grain: id
-- The transactions of a FIMI .dat file: their ids are the numbers of its lines already.
SELECT CAST(id AS INTEGER) AS tid, id FROM lines

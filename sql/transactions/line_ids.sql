-- reads: lines(id)
-- params: none
-- returns: tid, id
-- grain: id
-- The transactions of a FIMI .dat file: their ids are the line numbers.
SELECT CAST(id AS INTEGER) AS tid, id FROM lines

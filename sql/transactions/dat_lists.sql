-- reads: lines(id, line)
-- params: none
-- returns: id, items
-- grain: id
-- The items of each line of a FIMI .dat file.
SELECT id, list_filter(string_split(line, ' '), lambda x: x <> '') AS items FROM lines

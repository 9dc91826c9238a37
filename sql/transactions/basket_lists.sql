-- reads: lines(id, line)
-- params: separator
-- returns: id, items
-- grain: id
-- The items of each line of a file of baskets.
SELECT id, list_filter(string_split(line, CAST(getvariable('separator') AS VARCHAR)), lambda x: x <> '') AS items FROM lines

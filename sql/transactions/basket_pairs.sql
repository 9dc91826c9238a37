-- reads: lines(id, line)
-- params: separator
-- returns: id, item
-- grain: one row for each item of each line
-- The long form of the lines of a file of baskets, made without lists; empty lines give no row.
SELECT id, item FROM (SELECT id, unnest(string_split(line, CAST(getvariable('separator') AS VARCHAR))) AS item FROM lines) AS parts WHERE item <> ''

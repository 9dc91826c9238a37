-- reads: lines(id, line)
-- params: none
-- returns: item
-- grain: one row for each line that is not empty
-- The items of a list with one on each line.
SELECT trim(line) AS item FROM lines WHERE trim(line) <> ''

-- reads: lines(column1)
-- params: none
-- returns: item
-- grain: one row for each line that is not empty
-- The items of a list with one on each line, without blanks around them.
SELECT trim(CAST(column1 AS VARCHAR)) AS item FROM lines WHERE trim(CAST(column1 AS VARCHAR)) <> ''

-- reads: file(content)
-- params: none
-- returns: tid, item
-- grain: tid
-- The plain form of a file of baskets: control character 30 ends a line, 31 separates items; the id is the number of the line.
WITH lines AS (
    SELECT list_slice(string_split(content, chr(30)), 1, -2) AS line_list FROM file
), numbered AS (
    SELECT CAST(generate_subscripts(line_list, 1) AS BIGINT) AS tid, unnest(line_list) AS line FROM lines
)
SELECT tid, list_filter(string_split(line, chr(31)), lambda x: x <> '') AS item FROM numbered

-- reads: file(content)
-- params: none
-- returns: id, line
-- grain: one row for each basket of the file
-- The plain form of a file of baskets: control character 30 ends a line, 31 separates items; the id is the number of the line.
WITH lines AS (
    SELECT list_slice(string_split(content, chr(30)), 1, -2) AS line_list FROM file
)
SELECT CAST(generate_subscripts(line_list, 1) AS BIGINT) AS id, unnest(line_list) AS line FROM lines

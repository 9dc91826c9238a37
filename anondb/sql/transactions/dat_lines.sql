-- reads: file(content)
-- params: none
-- returns: id, items
-- grain: one row for each line of the file, empty lines included
-- A FIMI .dat file: one transaction for each line, items separated by blanks; the id is the line number.
WITH lines AS (
    SELECT string_split(
        regexp_replace(ltrim(replace(replace(content, chr(9), ' '), chr(13), ' '), chr(65279)), '\n\z', ''), chr(10)
    ) AS line_list
    FROM file
    WHERE content <> ''
),
numbered AS (
    SELECT unnest(line_list) AS line, CAST(generate_subscripts(line_list, 1) AS BIGINT) AS id FROM lines
)
SELECT
    id,
    list_filter(string_split(line, ' '), lambda x: x <> '') AS items
FROM numbered

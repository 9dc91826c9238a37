-- reads: file(content)
-- params: none
-- returns: id, line
-- grain: one row for each line of the file, empty lines included
-- A FIMI .dat file: one transaction for each line, items separated by blanks; the id is the line number.
WITH lines AS (
    SELECT string_split(
        regexp_replace(ltrim(replace(replace(content, chr(9), ' '), chr(13), ' '), chr(65279)), '\n\z', ''), chr(10)
    ) AS line_list
    FROM file
    WHERE content <> ''
)
SELECT CAST(generate_subscripts(line_list, 1) AS BIGINT) AS id, unnest(line_list) AS line FROM lines

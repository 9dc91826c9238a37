-- reads: ids(tid, id)
-- params: blanks
-- returns: id, uniform
-- grain: id
-- Each id as text without blanks at its ends, and the text that publications/persons makes of it, by functions that all
-- databases have and mean alike. NULL stands for texts that DuckDB may read as a number with an exponent, as a date or a time
-- that is not written as SQL writes it, or as a UUID with dashes or braces elsewhere. The mark at the end of a text keeps
-- patterns from ending before its last line break.
WITH texts AS (
    SELECT DISTINCT trim(CAST(id AS TEXT), getvariable('blanks')) AS id FROM ids
),
marked AS (
    SELECT
        id,
        id || '!' AS ended,
        lower(replace(id, '-', '')) AS digits,
        trim(ltrim(id, '+-') || CASE WHEN id LIKE '%.%' THEN '' ELSE '.' END, '0') AS number
    FROM texts
),
uniform AS (
    SELECT
        id,
        CASE
            WHEN regexp_matches(ended, '^[+-]?[0-9]*[.]?[0-9]+[eE][+-]?[0-9]+!$') THEN NULL
            WHEN lower(id) = 'true' THEN '1'
            WHEN lower(id) = 'false' THEN '0'
            WHEN regexp_matches(ended, '^[0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{12}!$')
                THEN
                    substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-' || substr(digits, 13, 4) || '-'
                    || substr(digits, 17, 4) || '-' || substr(digits, 21, 12)
            WHEN regexp_matches(ended, '^[{]?([0-9a-fA-F]-?){32}[}]?!$') THEN NULL
            WHEN regexp_matches(ended, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)!$')
                THEN
                    CASE WHEN id LIKE '-%' AND number <> '.' THEN '-' ELSE '' END
                    || CASE WHEN number LIKE '.%' THEN '0' ELSE '' END || rtrim(number, '.')
            WHEN regexp_matches(ended, '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{0,5}[1-9])?!$') THEN id
            WHEN
                NOT id LIKE '0000%'
                AND regexp_matches(
                    ended,
                    '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])( ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{0,5}[1-9])?)?!$'
                )
                THEN id
            WHEN regexp_matches(
                ended,
                '^[0-9]+([-/ ](0?[1-9]|1[0-2])[-/ ](0?[1-9]|[12][0-9]|3[01])[^0-9]|:[0-9][0-9]?(:[0-9]{0,2})?[^0-9:])'
            )
                THEN NULL
            ELSE id
        END AS uniform
    FROM marked
)
SELECT DISTINCT
    CASE WHEN uniform IS NULL THEN id END AS id,
    CASE WHEN uniform LIKE '% 00:00:00' THEN substr(uniform, 1, length(uniform) - 9) ELSE uniform END AS uniform
FROM uniform

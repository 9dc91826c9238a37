-- reads: ids(tid, id)
-- params: secret
-- returns: person
-- grain: person
-- The digests by which the ledger recognizes the persons of publications: 60 bits of a SHA-256 of the secret and the id as text.
-- Ids that SQL calls equal have one text, whatever their types: 1 and 1.00, a date and its midnight, UUIDs in upper and lower
-- case, true and 1; a time with a zone is that of UTC. Texts that denote such values, such as 007, count as these.
WITH texts AS (
    SELECT DISTINCT trim(CAST(id AS TEXT)) AS given FROM ids
),
written_out AS (
    SELECT
        CASE
            WHEN regexp_matches(given, '^[+-]?[0-9]*[.]?[0-9]+[eE][+-]?[0-9]+$')
                THEN coalesce(CAST(TRY_CAST(given AS DECIMAL(38, 9)) AS TEXT), given)
            WHEN lower(given) IN ('true', 'false') THEN CASE WHEN lower(given) = 'true' THEN '1' ELSE '0' END
            ELSE given
        END AS given
    FROM texts
),
split AS (
    SELECT
        given,
        nullif(ltrim(split_part(ltrim(given, '+-'), '.', 1), '0'), '') AS whole,
        nullif(rtrim(split_part(ltrim(given, '+-'), '.', 2), '0'), '') AS fraction
    FROM written_out
),
uniform AS (
    SELECT
        CASE
            WHEN regexp_matches(given, '^[{]?([0-9a-fA-F]-?){32}[}]?$') THEN coalesce(CAST(TRY_CAST(given AS UUID) AS TEXT), given)
            WHEN regexp_matches(given, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$')
                THEN
                    CASE WHEN given LIKE '-%' AND coalesce(whole, fraction) IS NOT NULL THEN '-' ELSE '' END
                    || coalesce(whole, '0') || coalesce('.' || fraction, '')
            WHEN regexp_matches(given, '^[0-9]+[-/ ].*:[0-9.]+ ?([+-][0-9:]+|[A-Za-z][A-Za-z/_]*)$')
                THEN coalesce(CAST(make_timestamp(epoch_us(TRY_CAST(given AS TIMESTAMPTZ))) AS TEXT), given)
            WHEN regexp_matches(given, '^[0-9]+[-/ ]') THEN coalesce(CAST(TRY_CAST(given AS TIMESTAMP) AS TEXT), given)
            WHEN regexp_matches(given, '^[0-9]+:[0-9]') THEN coalesce(CAST(TRY_CAST(given AS TIME) AS TEXT), given)
            ELSE given
        END AS id
    FROM split
)
SELECT DISTINCT
    CAST('0x' || substr(sha256(getvariable('secret') || regexp_replace(id, ' 00:00:00$', '')), 1, 15) AS BIGINT) AS person
FROM uniform
ORDER BY person

-- reads: source(value)
-- params: none
-- returns: present, plain, decimals, digits, odd
-- grain: one row
-- Whether the texts of an attribute are plain decimal numbers (no exponent, no leading zero, no plus), how many decimals
-- and digits they have at most, and how many are NaN, infinite or a negative zero.
SELECT
    count(value) AS present,
    count(*) FILTER (WHERE regexp_full_match(value, '-?(0|[1-9][0-9]*)(\.[0-9]+)?')) AS plain,
    coalesce(max(length(regexp_extract(value, '\.([0-9]+)$', 1))), 0) AS decimals,
    coalesce(max(length(regexp_extract(value, '^-?([0-9]+)', 1))), 0) AS digits,
    count(*) FILTER (WHERE regexp_full_match(value, '(?i)[+-]?(nan|inf|infinity)|-0(\.0*)?')) AS odd
FROM source

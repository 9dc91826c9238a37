-- reads: source(tid, value)
-- params: decimals
-- returns: value
-- grain: tid
-- Plain decimal texts as exact integers in the order of the transactions: the value times 10^decimals, computed on the
-- digits without floats.
SELECT
    CAST(
        regexp_replace(value, '\..*$', '') || rpad(regexp_extract(value, '\.([0-9]+)$', 1), getvariable('decimals'), '0')
        AS BIGINT
    ) AS value
FROM source
ORDER BY tid ASC

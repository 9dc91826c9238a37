-- reads: source(tid, value), domain(code, value)
-- params: none
-- returns: code
-- grain: tid
-- A categorical attribute as the numbers of its values, in the order of the transactions; NULL is a value too.
SELECT domain.code
FROM source
JOIN domain ON source.value IS NOT DISTINCT FROM domain.value
ORDER BY source.tid ASC

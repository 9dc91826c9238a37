-- reads: comparisons(key, result, created)
-- params: none
-- returns: key, result
-- grain: key
-- The latest result of every run of anondb compare.
SELECT latest.key, latest.result
FROM comparisons AS latest
WHERE NOT EXISTS (
    SELECT 1 FROM comparisons AS later WHERE later.key = latest.key AND later.created > latest.created
)
ORDER BY latest.created, latest.key

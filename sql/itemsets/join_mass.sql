-- reads: occurrences(tid, prefix, member, itemset)
-- params: none
-- returns: itemset, mass
-- grain: itemset
-- The number of rows of the next join with each itemset as the first, to plan the use of memory.
SELECT itemset, CAST(sum(later) AS BIGINT) AS mass
FROM (
    SELECT
        itemset,
        count(*) OVER (PARTITION BY tid, prefix)
        - row_number() OVER (PARTITION BY tid, prefix ORDER BY member) AS later
    FROM occurrences
) AS counted
GROUP BY itemset
HAVING sum(later) > 0
ORDER BY itemset

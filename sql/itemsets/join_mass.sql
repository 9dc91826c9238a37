-- reads: occurrences(tid, prefix, member, itemset)
-- params: none
-- returns: itemset, mass
-- grain: itemset
-- How many rows the join for the next size makes with each itemset as the first: the estimate that memory is planned by.
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

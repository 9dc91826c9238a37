-- reads: transactions(tid, item, copies), ids(tid, id), items(item, label)
-- params: none
-- returns: fingerprint
-- grain: one row
-- A digest of the source data that does not depend on the order of rows: the sum of keyed digests of all (id, item) pairs
-- and of all ids. It changes with the data, and only the owner keeps it.
WITH rows_ AS (
    SELECT
        md5_number_lower(
            CAST(ids.id AS VARCHAR) || chr(0) || items.label
            || CASE WHEN transactions.copies > 1 THEN chr(0) || CAST(transactions.copies AS VARCHAR) ELSE '' END
        ) AS part
    FROM transactions JOIN ids ON transactions.tid = ids.tid JOIN items ON transactions.item = items.item
    UNION ALL
    SELECT md5_number_lower(CAST(id AS VARCHAR)) AS part FROM ids
)
SELECT sha256(CAST(count(*) AS VARCHAR) || ':' || CAST(coalesce(sum(CAST(part AS HUGEINT)), 0) AS VARCHAR)) AS fingerprint
FROM rows_

-- reads: transactions(tid, item, copies), ids(tid, id), items(item, label)
-- params: none
-- returns: fingerprint
-- grain: one row
-- A digest of the source data that does not depend on the order of rows: the sum of the digests of all transactions, each of
-- its id and the sum of the digests of its items. It changes with the data, and only the owner keeps it. A digest is the upper
-- half of an MD5, which DuckDB computes four times faster than the lower half.
WITH digests AS (
    SELECT item, CAST(md5_number(label) >> 64 AS HUGEINT) AS digest FROM items
),
sets AS (
    SELECT transactions.tid, sum(digests.digest * transactions.copies) AS digest
    FROM transactions
    JOIN digests ON transactions.item = digests.item
    GROUP BY transactions.tid
),
parts AS (
    SELECT
        md5_number(
            CASE WHEN sets.digest IS NULL THEN '' ELSE CAST(sets.digest AS VARCHAR) END || ':' || CAST(ids.id AS VARCHAR)
        ) >> 64 AS part
    FROM ids
    LEFT JOIN sets ON ids.tid = sets.tid
)
SELECT sha256(CAST(count(*) AS VARCHAR) || ':' || CAST(coalesce(sum(CAST(part AS HUGEINT)), 0) AS VARCHAR)) AS fingerprint
FROM parts

-- reads: transactions(item), contents(transaction_id, content)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The different transactions of a release in long form (see contents).
WITH codes AS (
    SELECT listed.item, row_number() OVER (ORDER BY listed.item ASC) AS code
    FROM (SELECT DISTINCT transactions.item FROM transactions) AS listed
)
SELECT cells.transaction_id, codes.item, CAST(cells.cell - codes.code * 4294967296 AS INTEGER) AS copies
FROM (SELECT contents.transaction_id, unnest(contents.content) AS cell FROM contents) AS cells
JOIN codes ON cells.cell // 4294967296 = codes.code

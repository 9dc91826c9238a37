-- reads: transaction_ids(transaction_id), transactions(transaction_id, item, copies)
-- params: k
-- returns: violation, items, support
-- grain: class
-- Transactional k-anonymity: each published transaction, with the copies of its items, equals at least k - 1 others; the empty
-- transactions form one class.
WITH bags AS (
    SELECT transaction_ids.transaction_id,
        coalesce(
            list({'item': transactions.item, 'copies': transactions.copies} ORDER BY transactions.item ASC)
                FILTER (WHERE transactions.item IS NOT NULL),
            []
        ) AS bag
    FROM transaction_ids LEFT JOIN transactions ON transaction_ids.transaction_id = transactions.transaction_id
    GROUP BY transaction_ids.transaction_id
)
SELECT 'too few transactions are equal' AS violation, list_transform(bag, lambda x : x.item) AS items, count(*) AS support
FROM bags
GROUP BY bag
HAVING count(*) < getvariable('k')

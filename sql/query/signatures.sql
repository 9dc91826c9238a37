-- reads: held(transaction_id, signature)
-- params: none
-- returns: signature, transactions
-- grain: signature
-- The number of transactions with each signature.
SELECT held.signature, count(*) AS transactions
FROM held
GROUP BY held.signature
ORDER BY held.signature ASC

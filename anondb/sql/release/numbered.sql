-- reads: ids(tid), secret(key)
-- params: none
-- returns: tid, transaction_id
-- grain: tid
-- Fresh numbers 1..N in the order of a keyed digest: whoever lacks the key learns nothing from a number.
SELECT
    ids.tid,
    CAST(row_number() OVER (ORDER BY sha256(secret.key || ':' || CAST(ids.tid AS TEXT)), ids.tid) AS INTEGER) AS transaction_id
FROM ids CROSS JOIN secret

-- reads: ids(tid, id)
-- params: secret
-- returns: person
-- grain: person
-- The digests by which the ledger recognizes the persons of publications: 60 bits of a SHA-256 of the secret and the id as text.
SELECT DISTINCT CAST('0x' || substr(sha256(getvariable('secret') || CAST(id AS TEXT)), 1, 15) AS BIGINT) AS person
FROM ids
ORDER BY person

-- reads: secrets(secret)
-- params: none
-- returns: secret
-- grain: one row
-- The secret of the owner that keys the digests of persons.
SELECT max(secret) AS secret FROM secrets

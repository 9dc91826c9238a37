-- reads: manifest(key, value)
-- params: release_id
-- returns: violation, items, support
-- grain: one row, or none
-- A row if this file is not the release that the script was written for.
SELECT 'this is another release' AS violation, CAST([] AS TEXT[]) AS items, CAST(NULL AS BIGINT) AS support
WHERE NOT EXISTS (SELECT 1 FROM manifest WHERE key = 'release_id' AND value = getvariable('release_id'))

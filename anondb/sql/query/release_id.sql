-- reads: manifest(key, value)
-- params: none
-- returns: release_id
-- grain: one row
-- Which release the tables hold.
SELECT manifest.value AS release_id FROM manifest WHERE manifest.key = 'release_id'

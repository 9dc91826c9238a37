-- reads: manifest(key, value)
-- params: none
-- returns: key, value
-- grain: key
-- The manifest of a release.
SELECT key, value FROM manifest ORDER BY key ASC

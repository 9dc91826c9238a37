-- reads: manifest(key, value)
-- params: none
-- returns: key, value
-- grain: key
-- What a release says about itself.
SELECT key, value FROM manifest ORDER BY key ASC

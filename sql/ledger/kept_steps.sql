-- reads: steps(step, key, value)
-- params: step, key
-- returns: value
-- grain: one row at most
-- The result of a finished step that was kept under a key.
SELECT value FROM steps WHERE step = getvariable('step') AND key = getvariable('key')

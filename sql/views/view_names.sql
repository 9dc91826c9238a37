-- reads: views(name, release_id), releases(release_id, status)
-- params: none
-- returns: name
-- grain: name
-- The names of the anonymized views.
SELECT DISTINCT views.name
FROM views
JOIN releases ON views.release_id = releases.release_id
WHERE releases.status = 'present'
ORDER BY views.name

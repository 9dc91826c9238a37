-- reads: reports(release_id, report)
-- params: release_id
-- returns: report
-- grain: report
-- The report of a release, as JSON.
SELECT report FROM reports WHERE release_id = getvariable('release_id')

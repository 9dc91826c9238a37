-- reads: contents(content_id, complete, support)
-- params: none
-- returns: complete, weight
-- grain: content_id
-- How many transactions are published alike, and whether they are complete, for contents numbered from 1.
SELECT complete, support AS weight FROM contents ORDER BY content_id ASC

-- reads: contents(content_id, complete, weight)
-- params: none
-- returns: complete, weight
-- grain: content_id
-- How many transactions are published alike, and whether they are complete, for contents numbered from 1.
SELECT complete, weight FROM contents ORDER BY content_id ASC

-- reads: contents(content_id, complete, support)
-- params: none
-- returns: complete, weight
-- grain: content_id
-- For each distinct published transaction, numbered from 1, how many equal it and whether they are complete.
SELECT complete, support AS weight FROM contents ORDER BY content_id ASC

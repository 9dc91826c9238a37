-- reads: held(tid, joint)
-- params: k
-- returns: smallest, below_k
-- grain: one row
-- Candidates that remain for whoever knows one item, at least; and for how many joint items they are fewer than k.
SELECT min(candidates) AS smallest, count(*) FILTER (WHERE candidates < getvariable('k')) AS below_k
FROM (SELECT count(*) AS candidates FROM held GROUP BY joint) AS counted

-- reads: held(tid, joint)
-- params: k
-- returns: smallest, below_k
-- grain: one row
-- The fewest candidates that remain for an attacker who knows one item, and the number of joint items with fewer than k.
SELECT min(candidates) AS smallest, count(*) FILTER (WHERE candidates < getvariable('k')) AS below_k
FROM (SELECT count(*) AS candidates FROM held GROUP BY joint) AS counted

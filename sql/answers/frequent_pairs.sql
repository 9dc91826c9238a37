-- reads: held(label, tid, member)
-- params: least
-- returns: first, second, n
-- grain: first, second
-- The pairs of members of two released items that at least so many transactions hold.
SELECT held.member AS first, others.member AS second, count(*) AS n
FROM held
JOIN held AS others ON held.tid = others.tid AND held.member < others.member AND held.label <> others.label
GROUP BY held.member, others.member
HAVING count(*) >= getvariable('least')
ORDER BY first ASC, second ASC

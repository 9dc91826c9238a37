-- reads: transactions(tid, item), parts(part, item), joints(joint, part)
-- params: none
-- returns: tid, joint
-- grain: tid, joint
-- The persons who remain candidates for each joint item: those who have an item of each of its sets.
WITH wanted AS (
    SELECT DISTINCT joint, part FROM joints
),
numbers AS (
    SELECT joint, count(*) AS n FROM wanted GROUP BY joint
),
held AS (
    SELECT DISTINCT transactions.tid, parts.part
    FROM transactions
    JOIN parts ON transactions.item = parts.item
    WHERE EXISTS (SELECT 1 FROM wanted WHERE wanted.part = parts.part)
)
SELECT held.tid, wanted.joint
FROM held
JOIN wanted ON held.part = wanted.part
JOIN numbers ON wanted.joint = numbers.joint
GROUP BY held.tid, wanted.joint
HAVING count(*) = min(numbers.n)

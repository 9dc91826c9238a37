-- reads: transactions(tid, item), joints(item, joint), held(tid, joint)
-- params: k
-- returns: smallest, below_k
-- grain: one row
-- The same as overlap_singles for an attacker who knows two items of a person.
WITH known AS (
    SELECT DISTINCT transactions.tid, joints.joint FROM transactions JOIN joints ON transactions.item = joints.item
),
known_pairs AS (
    SELECT DISTINCT a.joint AS one, b.joint AS other FROM known AS a JOIN known AS b ON a.tid = b.tid AND a.joint < b.joint
),
counted AS (
    SELECT a.joint AS one, b.joint AS other, count(*) AS candidates
    FROM held AS a JOIN held AS b ON a.tid = b.tid AND a.joint < b.joint
    GROUP BY a.joint, b.joint
)
SELECT min(counted.candidates) AS smallest, count(*) FILTER (WHERE counted.candidates < getvariable('k')) AS below_k
FROM known_pairs
JOIN counted ON known_pairs.one = counted.one AND known_pairs.other = counted.other

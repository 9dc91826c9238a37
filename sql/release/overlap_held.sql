-- reads: transactions(tid, item), joints(item, joint, first_item, second_item)
-- params: none
-- returns: tid, joint
-- grain: tid, joint
-- The persons who remain candidates for each joint item: those who have its first part in the first release and its second
-- part in the second. A part that a release does not have excludes no person.
WITH firsts AS (
    SELECT DISTINCT transactions.tid, joints.first_item AS part
    FROM transactions JOIN joints ON transactions.item = joints.item
    WHERE joints.first_item IS NOT NULL
),
seconds AS (
    SELECT DISTINCT transactions.tid, joints.second_item AS part
    FROM transactions JOIN joints ON transactions.item = joints.item
    WHERE joints.second_item IS NOT NULL
),
pairs AS (
    SELECT DISTINCT joint, first_item, second_item FROM joints
)
SELECT firsts.tid, pairs.joint
FROM pairs
JOIN firsts ON pairs.first_item = firsts.part
JOIN seconds ON pairs.second_item = seconds.part AND firsts.tid = seconds.tid
UNION ALL
SELECT firsts.tid, pairs.joint FROM pairs JOIN firsts ON pairs.first_item = firsts.part WHERE pairs.second_item IS NULL
UNION ALL
SELECT seconds.tid, pairs.joint FROM pairs JOIN seconds ON pairs.second_item = seconds.part WHERE pairs.first_item IS NULL

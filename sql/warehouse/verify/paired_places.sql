-- reads: places(tid, place, code)
-- params: step
-- returns: tid, place, code
-- grain: tid, place
-- The places 0, 2 step, 4 step, ..., each of which now stands also for the place a step behind it, if there is one. A code is the
-- least transaction with the same two codes at these places. Codes at a place are equal if and only if the parts of the
-- transactions are that they stand for.
SELECT
    tid, place, min(tid) OVER (PARTITION BY place, code, next_code) AS code
FROM (
    SELECT firsts.tid, firsts.place, firsts.code, seconds.code AS next_code
    FROM places AS firsts
    LEFT JOIN places AS seconds ON firsts.tid = seconds.tid AND firsts.place + getvariable('step') = seconds.place
    WHERE firsts.place % (2 * getvariable('step')) = 0
) AS paired

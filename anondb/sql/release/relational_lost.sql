-- reads: recoded(tid, released), transactions(tid, item), items(item, label), members(released, label), incomplete(tid)
-- params: none
-- returns: lost_items, lost, hidden, invented
-- grain: one row
-- What the published item sets lack of the originals: items of which nothing is left, occurrences that no released item of
-- their transaction stands for, those of them in transactions that are said to be complete, and released items that stand
-- for nothing that their transaction held. The last two are untrue.
WITH stands_for AS (
    SELECT recoded.tid, recoded.released, items.item
    FROM recoded
    JOIN members ON recoded.released = members.released
    JOIN items ON members.label = items.label
),
kept AS (
    SELECT DISTINCT transactions.tid, transactions.item, stands_for.released
    FROM transactions
    JOIN stands_for ON transactions.tid = stands_for.tid AND transactions.item = stands_for.item
),
gone AS (
    SELECT transactions.tid, transactions.item
    FROM transactions
    WHERE NOT EXISTS (SELECT 1 FROM kept WHERE kept.tid = transactions.tid AND kept.item = transactions.item)
)
SELECT
    (SELECT count(DISTINCT gone.item) FROM gone WHERE NOT EXISTS (SELECT 1 FROM kept WHERE kept.item = gone.item)) AS lost_items,
    (SELECT count(*) FROM gone) AS lost,
    (
        SELECT count(*) FROM gone WHERE NOT EXISTS (SELECT 1 FROM incomplete WHERE incomplete.tid = gone.tid)
    ) AS hidden,
    (
        SELECT count(*)
        FROM recoded
        WHERE NOT EXISTS (
            SELECT 1 FROM kept WHERE kept.tid = recoded.tid AND kept.released = recoded.released
        )
    ) AS invented

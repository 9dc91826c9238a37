-- reads: middles(item_id, released_item, item, support, size, n, at_least, at_most, known)
-- params: none
-- returns: item_id, released_item, item, support, at_least, at_most, expected
-- grain: released_item, item
-- How many of the transactions that show a released item are expected to hold each member, in a global recoding: the rule of
-- anondb/answers/expected.py. Where nothing is known, the members of a released item are alike, and no other one
-- stands for them, so the 30 sweeps of the fit are a recursion of one number: persons hold each member independently, with the
-- probability found / n, and show the released item if they hold one of them.
SELECT
    middles.item_id, middles.released_item, middles.item, middles.support, middles.at_least, middles.at_most,
    CASE
        WHEN middles.known IS NOT NULL THEN middles.known
        ELSE list_reduce(
            range(30),
            lambda found, sweep: least(
                CASE WHEN middles.support < middles.size THEN CAST(0 AS DOUBLE) ELSE CAST(0.5 AS DOUBLE) END
                + middles.support * (found / middles.n) / (1 - pow(1 - found / middles.n, middles.size))
                * (1 - CASE WHEN middles.support < middles.size THEN CAST(0 AS DOUBLE) ELSE CAST(0.5 AS DOUBLE) END
                    * middles.size / middles.support),
                CAST(middles.support AS DOUBLE)
            ),
            CAST(middles.support AS DOUBLE) / middles.size
        )
    END AS expected
FROM middles

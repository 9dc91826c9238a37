-- reads: members(item_id, support, queried, at_least, at_most, weight)
-- params: none
-- returns: item_id, queried, slack, most, chance
-- grain: item_id
-- What each released item says of the queried items below it (docs/item_supports.md#bounds): how many there are; at most how many of
-- its transactions lack one of them; at most how many hold all of them; and the estimated share that does.
SELECT
    item_id,
    count(*) FILTER (WHERE queried) AS queried,
    sum(support - at_least) FILTER (WHERE queried) AS slack,
    CASE
        WHEN count(*) FILTER (WHERE queried) > 1 THEN least(
            min(at_most) FILTER (WHERE queried),
            (sum(at_most) - any_value(support)) // (count(*) FILTER (WHERE queried) - 1)
        )
        ELSE min(at_most) FILTER (WHERE queried)
    END AS most,
    product((at_least + at_most) / (2 * support) ORDER BY at_least ASC, at_most ASC) FILTER (WHERE queried)
    * pow(any_value(weight), count(*) FILTER (WHERE queried) - 1) AS chance
FROM members
GROUP BY item_id

-- reads: weighted(item_id, released_item, support, queried, at_least, at_most, share, weight)
-- params: none
-- returns: item_id, released_item, queried, slack, most, chance
-- grain: released_item
-- What each released item says of the queried items below it (docs/item_supports.md#bounds): how many there are; at most how many of
-- its transactions lack one of them; at most how many hold all of them; and the expected share that does.
SELECT
    weighted.item_id,
    weighted.released_item,
    count(*) FILTER (WHERE weighted.queried) AS queried,
    sum(weighted.support - weighted.at_least) FILTER (WHERE weighted.queried) AS slack,
    CASE
        WHEN count(*) FILTER (WHERE weighted.queried) > 1 THEN least(
            min(weighted.at_most) FILTER (WHERE weighted.queried),
            (sum(weighted.at_most) - any_value(weighted.support)) // (count(*) FILTER (WHERE weighted.queried) - 1)
        )
        ELSE min(weighted.at_most) FILTER (WHERE weighted.queried)
    END AS most,
    product(weighted.share ORDER BY weighted.share ASC) FILTER (WHERE weighted.queried)
    * pow(any_value(weighted.weight), count(*) FILTER (WHERE weighted.queried) - 1) AS chance
FROM weighted
GROUP BY weighted.item_id, weighted.released_item

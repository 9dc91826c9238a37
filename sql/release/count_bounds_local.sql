-- reads: checked(passed), manifest(key, value), transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id, copies), labels(item_id, item), released_items(released_item, item), blocks(released_item, chance)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a local recoding: how many original transactions hold all of the items Q, at
-- least, as expected, and at most. Released items of different transactions may overlap.
--
-- Why these bounds always hold. The original of a transaction is any that its own row allows, whatever the others are, so
-- bounds for each transaction add up. For one transaction:
-- * Set semantics. Its released items are disjoint, each stands for a non-empty set of its members, and, where it is
--   complete, the original holds nothing else. Complete, it may hold Q if and only if something stands for every x of Q
--   (choose all members). It must hold Q if and only if what stands for every x stands for x alone: if it has another
--   member y, {y} is a possible choice; if nothing stands for x, the original may lack x, complete or not. So the bounds
--   are attained here.
-- * Atomic semantics. Its copies stand for different occurrences of the original, each of a member. It must hold Q if
--   something that stands for x alone is there for every x of Q. Complete, there are no other occurrences: the items of Q
--   are different and need different copies, so it cannot hold Q unless each of them has a copy and all of them
--   together have as many copies as they are. For up to two items that is also enough: two copies can be chosen, and the
--   copies of the true original can be rearranged around them. (More items may fail although both conditions hold,
--   which makes the upper bound larger, not wrong. Copies that exhaust the members of a node force them all where an
--   original is a set; that is not used, because the original may be a bag.)
-- * Where a transaction is not complete, any occurrences may have been suppressed besides: it may hold Q whatever its
--   released items are. What is certain stays certain, since suppression only adds to the original.
-- Without items the count is N. Transactions that hold the same of what matters are judged once.
--
-- The estimate takes transactions and released items as independent and suppressed items as absent. Set semantics: so are the
-- members of a released item, but for the transactions that hold none of them (the blocks). Atomic semantics: c copies of s members hold one of them with probability min(1, c/s), several nodes
-- above it with 1 minus the product of what is missing, several items with the product; 0 where there are too few copies.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
wanted AS (
    SELECT DISTINCT decode(encode(label)) AS item FROM (SELECT unnest(labels) AS label FROM asked) AS listed
),
covers AS (
    SELECT
        members.released_item,
        count(*) AS size,
        row_number() OVER (ORDER BY members.released_item ASC) AS number
    FROM released_items AS members
    LEFT JOIN wanted ON members.item = wanted.item
    GROUP BY members.released_item
    HAVING count(wanted.item) > 0
),
settings AS (
    SELECT
        (SELECT count(*) FROM wanted) AS n_items,
        (SELECT count(*) FROM transaction_ids) AS n,
        (SELECT count(*) FROM transaction_ids WHERE NOT complete) AS n_incomplete,
        (SELECT max(value) FROM manifest WHERE key = 'semantics') = 'atomic' AS atomic
),
held AS (
    SELECT
        transaction_items.transaction_id,
        list_sort(list(covers.number * 4294967296 + transaction_items.copies)) AS content
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    JOIN covers ON labels.item = covers.released_item
    GROUP BY transaction_items.transaction_id
),
contents AS (
    SELECT
        held.content,
        transaction_ids.complete,
        count(*) AS weight,
        row_number() OVER (ORDER BY held.content ASC, transaction_ids.complete ASC) AS number
    FROM held
    JOIN transaction_ids ON held.transaction_id = transaction_ids.transaction_id
    GROUP BY held.content, transaction_ids.complete
),
nodes AS (
    SELECT
        listed.number, listed.weight, listed.complete, covers.released_item, covers.size,
        listed.cell - covers.number * 4294967296 AS copies
    FROM (SELECT number, weight, complete, unnest(content) AS cell FROM contents) AS listed
    JOIN covers ON listed.cell // 4294967296 = covers.number
),
by_item AS (
    SELECT
        nodes.number,
        members.item,
        min(nodes.size) = 1 AS certain,
        1 - product(
            1 - least(1, nodes.copies / CAST(nodes.size AS DOUBLE)) ORDER BY nodes.size ASC, nodes.copies ASC
        ) AS chance
    FROM nodes
    JOIN released_items AS members ON nodes.released_item = members.released_item
    JOIN wanted ON members.item = wanted.item
    GROUP BY nodes.number, members.item
),
items_held AS (
    SELECT
        number,
        count(*) AS covered,
        count(*) FILTER (WHERE certain) AS certain,
        product(chance ORDER BY chance ASC) AS chance
    FROM by_item
    GROUP BY number
),
nodes_held AS (
    SELECT
        nodes.number,
        nodes.weight,
        nodes.complete,
        CAST(sum(nodes.copies) AS BIGINT) AS copies,
        product(blocks.chance ORDER BY blocks.chance ASC) AS chance
    FROM nodes
    JOIN blocks ON nodes.released_item = blocks.released_item
    GROUP BY nodes.number, nodes.weight, nodes.complete
),
judged AS (
    SELECT
        nodes_held.weight,
        nodes_held.complete,
        items_held.certain = settings.n_items AS must,
        items_held.covered = settings.n_items
        AND (NOT settings.atomic OR nodes_held.copies >= settings.n_items) AS may,
        nodes_held.weight * CASE WHEN settings.atomic THEN items_held.chance ELSE nodes_held.chance END AS expected
    FROM nodes_held
    JOIN items_held ON nodes_held.number = items_held.number
    CROSS JOIN settings
),
counted AS (
    SELECT
        coalesce(sum(weight) FILTER (WHERE must), 0) AS least_count,
        coalesce(sum(expected ORDER BY expected ASC) FILTER (WHERE may), 0) AS expected,
        coalesce(sum(weight) FILTER (WHERE may AND complete), 0) AS most_count
    FROM judged
)
SELECT
    CAST(CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.least_count END AS BIGINT) AS lower_bound,
    CAST(CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.expected END AS DOUBLE) AS estimate,
    CAST(
        CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.most_count + settings.n_incomplete END AS BIGINT
    ) AS upper_bound
FROM counted
CROSS JOIN settings
CROSS JOIN checked
WHERE checked.passed

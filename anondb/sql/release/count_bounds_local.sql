-- reads: checked(passed), manifest(key, value), transaction_ids(transaction_id, complete), transactions(transaction_id, item, copies), released_items(released_item, item)
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
-- Without items the count is N.
--
-- The estimate takes transactions and released items as independent and suppressed items as absent. Set semantics: all
-- 2^s - 1 non-empty sets of s members are equally likely, so j given ones are all present with probability
-- 2^-j / (1 - 2^-s). Atomic semantics: c copies of s members hold one of them with probability min(1, c/s), several nodes
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
        count(wanted.item) AS queried
    FROM released_items AS members
    LEFT JOIN wanted ON members.item = wanted.item
    GROUP BY members.released_item
    HAVING count(wanted.item) > 0
),
settings AS (
    SELECT
        (SELECT count(*) FROM wanted) AS n_items,
        (SELECT count(*) FROM transaction_ids) AS n,
        (SELECT max(value) FROM manifest WHERE key = 'semantics') = 'atomic' AS atomic
),
by_item AS (
    SELECT
        transactions.transaction_id,
        members.item,
        min(covers.size) = 1 AS certain,
        1 - product(
            1 - least(1, transactions.copies / CAST(covers.size AS DOUBLE)) ORDER BY covers.size ASC, transactions.copies ASC
        ) AS chance
    FROM transactions
    JOIN covers ON transactions.item = covers.released_item
    JOIN released_items AS members ON covers.released_item = members.released_item
    JOIN wanted ON members.item = wanted.item
    GROUP BY transactions.transaction_id, members.item
),
items_held AS (
    SELECT
        transaction_id,
        count(*) AS covered,
        count(*) FILTER (WHERE certain) AS certain,
        product(chance ORDER BY chance ASC) AS chance
    FROM by_item
    GROUP BY transaction_id
),
nodes_held AS (
    SELECT
        transactions.transaction_id,
        CAST(sum(transactions.copies) AS BIGINT) AS copies,
        product(
            pow(CAST(2 AS DOUBLE), -covers.queried) / (1 - pow(CAST(2 AS DOUBLE), -covers.size))
            ORDER BY covers.size ASC, covers.queried ASC
        ) AS chance
    FROM transactions
    JOIN covers ON transactions.item = covers.released_item
    GROUP BY transactions.transaction_id
),
judged AS (
    SELECT
        transaction_ids.complete,
        coalesce(items_held.certain, 0) = settings.n_items AS must,
        coalesce(items_held.covered, 0) = settings.n_items
        AND (NOT settings.atomic OR coalesce(nodes_held.copies, 0) >= settings.n_items) AS may,
        CASE WHEN settings.atomic THEN items_held.chance ELSE nodes_held.chance END AS chance
    FROM transaction_ids
    CROSS JOIN settings
    LEFT JOIN items_held ON transaction_ids.transaction_id = items_held.transaction_id
    LEFT JOIN nodes_held ON transaction_ids.transaction_id = nodes_held.transaction_id
    WHERE settings.n_items > 0
),
counted AS (
    SELECT
        count(*) FILTER (WHERE must) AS least_count,
        coalesce(sum(coalesce(chance, 0) ORDER BY chance ASC) FILTER (WHERE may), 0) AS expected,
        count(*) FILTER (WHERE may OR NOT complete) AS most_count
    FROM judged
)
SELECT
    CAST(CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.least_count END AS BIGINT) AS lower_bound,
    CAST(CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.expected END AS DOUBLE) AS estimate,
    CAST(CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.most_count END AS BIGINT) AS upper_bound
FROM counted
CROSS JOIN settings
CROSS JOIN checked
WHERE checked.passed

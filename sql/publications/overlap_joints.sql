-- reads: parts(part, item)
-- params: none
-- returns: item, joint, part
-- grain: item, part
-- The smallest sets in which several releases show each item: a set that contains another of them excludes no more persons.
-- Items with the same smallest sets have the same number (joint). Items that no release shows are omitted: attackers learn
-- nothing from them.
WITH sizes AS (
    SELECT part, count(*) AS size FROM parts GROUP BY part
),
inside AS (
    SELECT a.part, b.part AS larger
    FROM parts AS a
    JOIN parts AS b ON a.item = b.item AND a.part <> b.part
    JOIN sizes ON a.part = sizes.part
    GROUP BY a.part, b.part
    HAVING count(*) = min(sizes.size)
),
smallest AS (
    SELECT item, part
    FROM parts
    WHERE NOT EXISTS (
        SELECT 1 FROM inside JOIN parts AS others ON inside.part = others.part
        WHERE inside.larger = parts.part AND others.item = parts.item
    )
),
numbered AS (
    SELECT item, list(part ORDER BY part ASC) AS shown FROM smallest GROUP BY item
)
SELECT item, CAST(dense_rank() OVER (ORDER BY shown ASC) AS INTEGER) AS joint, unnest(shown) AS part FROM numbered

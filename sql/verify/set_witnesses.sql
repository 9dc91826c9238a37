-- reads: violations(id, support), sets(id, length), set_items(id, item), names(code, label)
-- params: how_many
-- returns: place, support, label
-- grain: place, label
-- The first violating transactions by length and labels, in long form.
WITH labelled AS (
    SELECT violations.id, violations.support, sets.length, list_sort(list(names.label)) AS labels
    FROM violations
    JOIN sets ON sets.id = violations.id
    JOIN set_items ON set_items.id = violations.id
    JOIN names ON names.code = set_items.item
    GROUP BY violations.id, violations.support, sets.length
),
placed AS (SELECT row_number() OVER (ORDER BY length, labels) AS place, support, labels FROM labelled),
first_ones AS (SELECT place, support, labels FROM placed WHERE place <= getvariable('how_many'))
SELECT place, support, unnest(labels) AS label FROM first_ones ORDER BY 1, 3

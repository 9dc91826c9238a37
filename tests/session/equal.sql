-- Queries of the small shop with equal bounds and estimates: a line `-- RULE` or `-- RULE [listed]` begins those that are equal by
-- the rule, each a line that ends with a semicolon; the plain one is the last. [listed]: only where no item was suppressed.
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, count(*) OVER (PARTITION BY tid) AS c FROM sales) WHERE c = 1;
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n = 1;
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT item, count(*) AS n FROM (SELECT * FROM sales QUALIFY count(*) OVER (PARTITION BY tid) > 1) GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 1) GROUP BY item;
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT count(*) AS n FROM (SELECT tid, item, bool_or(item = 'milk') OVER (PARTITION BY tid) AS m FROM sales QUALIFY NOT m) WHERE item = 'bread';
SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT avg(c) AS n FROM (SELECT DISTINCT tid, count(*) FILTER (WHERE item <> 'milk') OVER (PARTITION BY tid) AS c FROM sales);
SELECT avg(c) AS n FROM (SELECT tid, count(*) FILTER (WHERE item <> 'milk') AS c FROM sales GROUP BY tid);
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT count(*) AS n FROM (SELECT count(*) OVER (PARTITION BY tid) AS c FROM sales WHERE item IN ('milk', 'figs')) WHERE c = 2;
SELECT 2 * count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'figs') GROUP BY tid HAVING count(*) = 2);
-- an aggregate over the rows of a person is that of GROUP BY the id
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, sum(price) OVER (PARTITION BY tid) AS s FROM sales JOIN prices USING (item)) WHERE s > 3;
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 3);
-- a value of several numbers of a person is that for each value of one
SELECT sum(a * b) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') AS a, count(*) FILTER (WHERE item = 'bread') AS b FROM sales GROUP BY tid);
SELECT count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = 'bread';
-- a value of several numbers of a person is that for each value of one
SELECT sum(a * (1 - b)) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') AS a, count(*) FILTER (WHERE item = 'bread') AS b FROM sales GROUP BY tid);
SELECT count(*) AS n FROM sales WHERE item = 'milk' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'bread');
-- a value of several numbers of a person is that for each value of one
SELECT sum(d) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs') AS d FROM sales GROUP BY tid);
SELECT sum(CASE item WHEN 'milk' THEN 1 WHEN 'figs' THEN -1 ELSE 0 END) AS n FROM sales;
-- a value of several numbers of a person is that for each value of one
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING max(price) = min(price) AND max(price) = 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING max(price) = 2 AND min(price) = 2);
-- a value of several numbers of a person is that for each value of one
SELECT sum((t > 3)::INTEGER) AS n FROM (SELECT sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT count(*) AS n FROM (SELECT sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid) WHERE t > 3;
-- a value of several numbers of a person is that for each value of one
SELECT count(CASE item WHEN 'milk' THEN tid END) AS n FROM sales;
SELECT count(*) AS n FROM sales WHERE item = 'milk';
-- a row of totals beside persons is a constant
WITH t AS (SELECT count(*) AS t FROM sales) SELECT item, count(*) / any_value(t) AS n FROM sales, t GROUP BY item;
SELECT item, count(*) / (SELECT count(*) FROM sales) AS n FROM sales GROUP BY item;
-- a row of totals beside persons is a constant
SELECT item, count(*) * 100.0 / t.n AS n FROM (SELECT count(DISTINCT tid) AS n FROM sales) t JOIN sales ON true GROUP BY item, t.n;
SELECT item, count(*) * 100.0 / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item;
-- a row of totals beside persons is a constant
WITH m AS (SELECT tid FROM sales WHERE item = 'milk'), k AS (SELECT count(*) AS k FROM sales) SELECT item, count(*) / max(k) AS n FROM sales JOIN m USING (tid) CROSS JOIN k GROUP BY ALL;
SELECT item, count(*) / (SELECT count(*) FROM sales) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item;
-- different rows of windows are groups
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS n FROM sales;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- different rows of windows are groups
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) / count(*) OVER () AS n FROM sales;
SELECT item, count(*) / sum(count(*)) OVER () AS n FROM sales GROUP BY item;
-- different rows of windows are groups
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS n FROM sales QUALIFY n > 9;
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 9;
-- different rows of windows are groups
SELECT DISTINCT parent, item, sum(price) OVER (PARTITION BY parent) AS n FROM sales JOIN prices USING (item) JOIN food ON node = item;
SELECT parent, item, sum(sum(price)) OVER (PARTITION BY parent) AS n FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY parent, item;
-- different rows of windows are groups
SELECT count(*) AS n FROM (SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS c FROM sales) WHERE c > 9;
SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- numbers of groups may be written in another way
SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY count(*) > avg(count(*)) OVER ();
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n > (SELECT avg(n) FROM c);
-- numbers of groups may be written in another way
SELECT item, price * count(*) AS n FROM sales JOIN prices USING (item) GROUP BY item, price;
SELECT item, sum(price) AS n FROM sales JOIN prices USING (item) GROUP BY item;
-- numbers of groups may be written in another way
SELECT count(*) // 2 AS n FROM sales WHERE item = 'milk';
SELECT trunc(count(*) / 2) AS n FROM sales WHERE item = 'milk';
-- persons of an outer join are those of either side
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') x FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') y ON x.tid = y.tid WHERE x.tid IS NULL;
SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- persons of an outer join are those of either side
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') x FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') y ON x.tid = y.tid WHERE x.tid IS NULL OR y.tid IS NULL;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 1);
-- persons of an outer join are those of either side
SELECT count(DISTINCT tid) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') x FULL OUTER JOIN (SELECT tid FROM sales WHERE item = 'bread') y USING (tid);
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread');
-- persons of an outer join are those of either side
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') x RIGHT JOIN (SELECT DISTINCT tid FROM sales) y ON y.tid = x.tid WHERE x.tid IS NULL;
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- a condition on all rows of an item chooses items
SELECT count(*) AS n FROM (SELECT item, count(*) OVER (PARTITION BY item) AS c FROM sales) WHERE c > 9;
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- a condition on all rows of an item chooses items
SELECT item, count(*) AS n FROM (SELECT tid, item FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 9) GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) GROUP BY item;
-- a condition on all rows of an item chooses items
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item, count(DISTINCT tid) OVER (PARTITION BY item) AS c FROM sales) x WHERE x.c > 9 AND x.item <> 'milk';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) AND item <> 'milk';
-- a condition on all rows of an item chooses items
SELECT sum(price) AS n FROM (SELECT price, count(*) OVER (PARTITION BY item) AS c FROM sales JOIN prices USING (item) WHERE item <> 'figs') WHERE c > 9;
SELECT sum(price) AS n FROM sales JOIN prices USING (item) WHERE item <> 'figs' AND item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- a value that a subquery looks up is that of a join
SELECT sum((SELECT price FROM prices p WHERE p.item = s.item)) AS n FROM sales s;
SELECT sum(price) AS n FROM sales JOIN prices USING (item);
-- a value that a subquery looks up is that of a join
SELECT count(*) AS n FROM sales s WHERE (SELECT price FROM prices p WHERE p.item = s.item) > 1.5;
SELECT count(*) AS n FROM sales JOIN prices USING (item) WHERE price > 1.5;
-- a value that a subquery looks up is that of a join
SELECT sum((SELECT price FROM prices p WHERE p.item = s.item)) AS n FROM sales s, sales o WHERE s.tid = o.tid AND o.item = 'milk';
SELECT sum(price) AS n FROM sales s JOIN prices USING (item) JOIN sales o ON s.tid = o.tid WHERE o.item = 'milk';
-- a value that a subquery looks up is that of a join
SELECT item, v, (SELECT price FROM prices p WHERE p.item = s.item) AS p, n FROM (SELECT item, 1 AS v, count(*) AS n FROM sales GROUP BY item) s ORDER BY 1;
SELECT item, 1 AS v, price AS p, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) LEFT JOIN prices USING (item) ORDER BY 1;
-- a value that a subquery looks up is that of a join
SELECT (SELECT price FROM prices p WHERE p.item = s.item) AS p, count(*) AS n FROM sales s GROUP BY (SELECT price FROM prices p WHERE p.item = s.item) ORDER BY 1, 2;
SELECT price AS p, count(*) AS n FROM sales LEFT JOIN prices USING (item) GROUP BY price ORDER BY 1, 2;
-- a value that a subquery looks up is that of a join
SELECT s.item, count(*) * coalesce((SELECT price FROM prices p WHERE p.item = s.item), 0) AS n FROM sales s GROUP BY s.item ORDER BY 1;
SELECT item, count(*) * coalesce(price, 0) AS n FROM sales LEFT JOIN prices USING (item) GROUP BY item, price ORDER BY 1;
-- a value that a subquery looks up is that of a join
SELECT item, n, (SELECT price FROM prices p WHERE p.item = s.item) AS p FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) s ORDER BY 1;
SELECT item, n, price AS p FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) LEFT JOIN prices USING (item) ORDER BY 1;
-- a value that a subquery looks up is that of a join
SELECT count(*) AS n FROM (SELECT tid FROM sales s GROUP BY tid HAVING sum((SELECT price FROM prices p WHERE p.item = s.item)) > 3);
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 3);
-- numbers of persons may be written in another way
SELECT sum(c) AS n, min(c) AS m FROM (SELECT tid, nullif(count(*), 2) AS c FROM sales GROUP BY tid);
SELECT sum(c) AS n, min(c) AS m FROM (SELECT tid, CASE WHEN count(*) = 2 THEN NULL ELSE count(*) END AS c FROM sales GROUP BY tid);
-- numbers of persons may be written in another way
SELECT count(nullif(c, 1)) AS n FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) WHERE c <> 1;
-- numbers of persons may be written in another way
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING min(item) = max(item));
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n = 1;
-- numbers of persons may be written in another way
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING min(item) <> max(item));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING count(*) > 1);
-- numbers of persons may be written in another way
SELECT pow(stddev_pop(n), 2) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT var_pop(n) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
-- numbers of persons may be written in another way
SELECT count(*) ** 2 AS n FROM sales WHERE item = 'milk';
SELECT count(*) * count(*) AS n FROM sales WHERE item = 'milk';
-- parts of the items of a person are counted
SELECT count(*) AS n FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid) WHERE len(list_intersect(l, ['milk', 'bread', 'figs'])) >= 2;
SELECT count(*) AS n FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid) WHERE len(list_filter(l, lambda item: item IN ('milk', 'bread', 'figs'))) > 1;
SELECT count(*) AS n FROM (SELECT tid, sum((item = 'milk')::INT) + count(*) FILTER (item = 'bread') + count_if(item = 'figs') AS k FROM sales GROUP BY tid) WHERE k > 1.5;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'figs') GROUP BY tid HAVING count(*) >= 2);
-- parts of the items of a person are counted
SELECT count(DISTINCT (tid, item)) AS n FROM sales;
SELECT count(*) AS n FROM sales;
-- persons may have all items of a list
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales s WHERE NOT EXISTS (SELECT 1 FROM (VALUES ('milk'), ('butter'), ('rolls')) v(i) WHERE NOT EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = v.i)));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'butter', 'rolls') GROUP BY tid HAVING count(*) = 3);
-- persons may have all items of a list [listed]
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE NOT EXISTS (FROM food f WHERE parent = 'dairy' AND f.node NOT IN (SELECT t.item FROM sales t WHERE t.tid = s.tid));
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item AND parent = 'dairy' GROUP BY tid HAVING count(*) = (SELECT count(*) FROM food WHERE parent = 'dairy'));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'butter') GROUP BY tid HAVING count(*) = 2);
-- persons may have all items of a list [listed]
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM food f WHERE f.parent = 'dairy' AND EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = node));
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'butter');
-- lists of items are compared
SELECT count(*) AS n FROM (SELECT item FROM sales EXCEPT SELECT item FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk'));
SELECT count(DISTINCT item) AS n FROM sales WHERE item NOT IN (SELECT item FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk'));
-- lists of items are compared
SELECT count(*) AS n FROM (SELECT item FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') INTERSECT SELECT item FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'bread'));
SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING bool_or(tid IN (SELECT tid FROM sales WHERE item = 'milk')) AND bool_or(tid IN (SELECT tid FROM sales WHERE item = 'bread')));
-- the value of a row is compared with that of its person
SELECT price AS m, count(DISTINCT tid) AS n FROM (SELECT tid, price, max(price) OVER (PARTITION BY tid) AS t FROM sales JOIN prices USING (item)) WHERE price = t GROUP BY price;
SELECT m, count(*) AS n FROM (SELECT tid, max(price) AS m FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY m;
-- the value of a row is compared with that of its person
SELECT item AS i, count(*) AS n FROM sales s WHERE item = (SELECT min(item) FROM sales o WHERE o.tid = s.tid) GROUP BY item;
SELECT i, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales GROUP BY tid) GROUP BY i;
-- rows of kinds of items are counted as the kinds [listed]
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM (SELECT DISTINCT tid, parent FROM sales JOIN food ON node = item) GROUP BY tid) GROUP BY k;
WITH p AS (SELECT tid, parent FROM sales, food WHERE node = item GROUP BY tid, parent) SELECT k, count(*) AS n FROM (SELECT tid, count(parent) AS k FROM p GROUP BY tid) GROUP BY 1;
SELECT k, count(*) AS n FROM (SELECT tid, count(DISTINCT parent) AS k FROM sales JOIN food ON node = item GROUP BY tid) GROUP BY k;
-- CASE may stand in CASE
SELECT b, count(*) AS n FROM (SELECT tid, if(sum(price) >= 5, 'high', if(sum(price) >= 3, 'mid', 'low')) AS b FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY b;
SELECT CASE WHEN t >= 5 THEN 'high' WHEN t >= 3 THEN 'mid' ELSE 'low' END AS b, count(*) AS n FROM (SELECT tid, sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY 1;
-- rows have places [listed]
SELECT count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r = 1;
SELECT count(DISTINCT tid) AS n FROM sales;
-- rows have places [listed]
SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY rank() OVER (PARTITION BY tid ORDER BY item) <= 2);
SELECT sum(least(n, 2)) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
-- rows have places [listed]
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r = 3;
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n >= 3;
-- rows have places [listed]
SELECT item AS i, count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r = 1 GROUP BY item;
SELECT i, count(*) AS n FROM (SELECT DISTINCT ON (tid) tid, item AS i FROM sales ORDER BY tid, item) GROUP BY i;
SELECT i, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales GROUP BY tid) GROUP BY i;
-- rows have places [listed]
SELECT count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE item = 'milk' AND r = 1;
SELECT sum(n) AS n FROM (SELECT i, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales GROUP BY tid) GROUP BY i) WHERE i = 'milk';
-- rows have places [listed]
SELECT price AS m, count(*) AS n FROM (SELECT tid, price FROM sales JOIN prices USING (item) QUALIFY row_number() OVER (PARTITION BY tid ORDER BY price DESC, item) = 1) GROUP BY ALL;
SELECT m, count(*) AS n FROM (SELECT tid, max(price) AS m FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY m;
-- rows have places [listed]
SELECT count(*) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY tid) AS r FROM sales WHERE item IN ('milk', 'bread', 'figs') UNION ALL SELECT tid, 5 AS r FROM sales) WHERE r = 2;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'figs') GROUP BY tid HAVING count(*) > 1);
-- rows of the item of a row are a group
SELECT DISTINCT item, (SELECT count(*) FROM sales o WHERE o.item = s.item) AS n FROM sales s;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- rows of the item of a row are a group
SELECT count(*) AS n FROM sales s WHERE (SELECT count(*) FROM sales o WHERE o.item = s.item) > 9;
SELECT count(*) AS n FROM sales JOIN (SELECT item, count(*) AS c FROM sales GROUP BY item) USING (item) WHERE c > 9;
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- rows of the item of a row are a group
SELECT count(DISTINCT tid) AS n FROM sales s JOIN prices USING (item) WHERE price < 3 AND 9 < (SELECT count(o.tid) FROM sales AS o WHERE s.item = o.item);
SELECT count(DISTINCT tid) AS n FROM sales JOIN prices USING (item) WHERE price < 3 AND item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- LATERAL aggregates are subqueries
SELECT i.item, l.n FROM (SELECT DISTINCT item FROM sales) i, LATERAL (SELECT count(*) AS n FROM sales s WHERE s.item = i.item) l;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- LATERAL aggregates are subqueries
SELECT c.item, c.n * 100.0 / l.s AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c CROSS JOIN LATERAL (SELECT count(*) AS s FROM sales) l;
SELECT item, count(*) * 100.0 / (SELECT count(*) FROM sales) AS n FROM sales GROUP BY item;
-- LATERAL aggregates are subqueries
SELECT i, n FROM (VALUES ('milk'), ('figs'), ('caviar')) v(i) LEFT JOIN LATERAL (SELECT count(*) FROM sales WHERE item = v.i) l(n) ON true ORDER BY n;
SELECT i, (SELECT count(*) FROM sales WHERE item = v.i) AS n FROM (VALUES ('milk'), ('figs'), ('caviar')) v(i);
-- LATERAL aggregates are subqueries
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p, LATERAL (SELECT count(*) AS k FROM sales s WHERE s.tid = p.tid AND s.item <> 'milk') l WHERE l.k > 1;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING count(*) > 1);
-- all counts are compared with an extreme
SELECT item, first_value(n) OVER (ORDER BY n DESC) - n AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, max(n) OVER () - n AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- all counts are compared with an extreme
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= ALL (SELECT count(*) FROM sales GROUP BY item);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n >= ALL (SELECT n FROM c);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n = (SELECT max(n) FROM c);
-- all counts are compared with an extreme
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.n > c.n);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE NOT EXISTS (FROM c d WHERE d.n > c.n AND d.item <> c.item);
-- all counts are compared with an extreme
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE EXISTS (SELECT 1 FROM c d WHERE c.n < d.n);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE EXISTS (FROM c d WHERE d.n > c.n AND d.item <> c.item);
-- subqueries are of each value around them [listed]
SELECT p.parent, (SELECT count(DISTINCT tid) FROM sales WHERE item IN (SELECT node FROM food WHERE parent = p.parent)) AS n FROM (SELECT DISTINCT parent FROM food WHERE parent IS NOT NULL) p;
SELECT f.parent, count(DISTINCT s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node WHERE f.parent IS NOT NULL GROUP BY f.parent;
-- subqueries are of each value around them [listed]
SELECT node, (SELECT count(DISTINCT tid) FROM sales WHERE item = node) AS n FROM food;
SELECT f.node, count(DISTINCT s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.node;
-- subqueries are of each value around them [listed]
SELECT count(*) AS n FROM (SELECT DISTINCT parent FROM food WHERE parent IS NOT NULL) p WHERE EXISTS (SELECT 1 FROM sales s WHERE s.item IN (SELECT node FROM food WHERE parent = p.parent));
SELECT count(*) AS n FROM (SELECT DISTINCT parent FROM food WHERE parent IS NOT NULL) p WHERE parent IN (SELECT f.parent FROM sales JOIN food f ON node = item);
-- subqueries are of each value around them
SELECT k, (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= g.k)) AS n FROM (SELECT unnest([1, 2]) AS k) g;
SELECT 1 AS k, count(*) AS n FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) WHERE c > 0 UNION ALL SELECT 2, count(*) FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) WHERE c > 1;
-- subqueries are of each value around them
SELECT p.x, l.n FROM (VALUES ('milk', 'bread'), ('dates', 'milk')) p(x, y), LATERAL (SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = p.x INTERSECT SELECT tid FROM sales WHERE item = p.y)) l;
SELECT 'milk' AS x, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item = 'bread' UNION ALL SELECT 'dates', count(*) FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM sales WHERE item = 'dates');
-- own tables are joined in any order [listed]
SELECT p.parent, count(*) AS n FROM sales s, food f, food p WHERE p.node = f.parent AND s.item = f.node GROUP BY 1;
SELECT p.parent, count(*) AS n FROM food p, food f, sales s WHERE p.node = f.parent AND s.item = f.node GROUP BY 1;
SELECT p.parent, count(*) AS n FROM sales s, food p, food f WHERE p.node = f.parent AND s.item = f.node GROUP BY 1;
SELECT p.parent, count(*) AS n FROM sales s JOIN food f ON f.node = s.item JOIN food p ON p.node = f.parent GROUP BY 1;
-- own tables are joined in any order [listed]
SELECT parent, count(*) FILTER (WHERE node IN (SELECT item FROM sales)) AS n FROM food GROUP BY parent;
SELECT parent, count(*) FILTER (WHERE node IN (SELECT DISTINCT item FROM sales)) AS n FROM food GROUP BY parent;
-- own tables are joined in any order
SELECT DISTINCT item, count(*) OVER w AS n, count(*) OVER w * 2 AS r FROM sales WINDOW w AS (PARTITION BY item);
SELECT item, count(*) AS n, count(*) * 2 AS r FROM sales GROUP BY item;
-- own tables are joined in any order [listed]
SELECT b AS parent, count(*) AS n FROM (SELECT * FROM food f, sales s WHERE s.item = f.node) x(a, b, c, d) GROUP BY b;
SELECT d AS parent, count(*) AS n FROM (SELECT * FROM sales s JOIN food f ON s.item = f.node) x(a, b, c, d) GROUP BY d;
SELECT f.parent, count(*) AS n FROM sales s JOIN food f ON f.node = s.item GROUP BY 1;
-- own tables are joined in any order
SELECT d AS item, count(*) AS n FROM (SELECT * FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) z, sales s WHERE z.tid = s.tid) x(a, b, c, d) GROUP BY d;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- rows without a match are those of an anti join
SELECT count(*) AS n FROM prices p LEFT JOIN sales s ON s.item = p.item WHERE s.item IS NULL;
SELECT count(*) AS n FROM prices p LEFT JOIN sales s USING (item) WHERE s.tid IS NULL;
SELECT count(*) AS n FROM prices p WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.item = p.item);
-- rows without a match are those of an anti join
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p LEFT JOIN sales s ON s.tid = p.tid AND s.item = 'milk' WHERE s.item IS NULL;
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- rows of aggregates stand beside each other
WITH a AS (SELECT count(*) AS n FROM sales WHERE item = 'milk'), i AS (SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item = 'bread') SELECT i.n / nullif(a.n, 0) AS n FROM a, i;
WITH a AS (SELECT count(*) AS n FROM sales WHERE item = 'milk'), i AS (SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item = 'bread') SELECT CASE WHEN a.n = 0 THEN NULL ELSE i.n / a.n END AS n FROM a CROSS JOIN i;
WITH a AS (SELECT count(*) AS n FROM sales WHERE item = 'milk'), i AS (SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item = 'bread') SELECT CASE WHEN a.n > 0 THEN i.n / a.n END AS n FROM a, i;
SELECT (SELECT count(DISTINCT s.tid) FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item = 'bread') / nullif((SELECT count(*) FROM sales WHERE item = 'milk'), 0) AS n;
-- rows of aggregates stand beside each other
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), t AS (SELECT count(*) AS total FROM sales) SELECT item, sum(n) OVER (ORDER BY n DESC, item) / t.total AS r FROM c, t;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), t AS (SELECT count(*) AS total FROM sales) SELECT item, sum(n) OVER (ORDER BY n DESC, item) / t.total AS r FROM t CROSS JOIN c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, sum(n) OVER (ORDER BY n DESC, item) / (SELECT count(*) FROM sales) AS r FROM c;
-- a value of the item may be looked up
SELECT item, count(*) * (SELECT p.price FROM prices p WHERE p.item = s.item) AS n FROM sales s WHERE item IN ('milk', 'bread') GROUP BY item;
SELECT item, sum(price) AS n FROM sales JOIN prices USING (item) WHERE item IN ('milk', 'bread') GROUP BY item;
-- numbers of different values are added up [listed]
SELECT avg(k) AS n FROM (SELECT s.tid, count(DISTINCT f.parent) AS k FROM sales s JOIN food f ON f.node = s.item GROUP BY s.tid);
SELECT count(*) / count(DISTINCT tid) AS n FROM (SELECT DISTINCT s.tid, f.parent FROM sales s JOIN food f ON f.node = s.item);
-- differences of counts are those of what they count
SELECT count(*) FILTER (WHERE a AND NOT b) - count(*) FILTER (WHERE b AND NOT a) AS n FROM (SELECT tid, bool_or(item = 'milk') AS a, bool_or(item = 'bread') AS b FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE a) - count(*) FILTER (WHERE b) AS n FROM (SELECT tid, bool_or(item = 'milk') AS a, bool_or(item = 'bread') AS b FROM sales GROUP BY tid);
-- own tables are joined in any order
SELECT b AS price, count(*) AS n FROM (SELECT * FROM prices p JOIN sales s USING (item)) x(a, b, c, d) GROUP BY b;
SELECT c AS price, count(*) AS n FROM (SELECT * FROM sales s JOIN prices p USING (item)) x(a, b, c, d) GROUP BY c;
SELECT p.price, count(*) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY 1;
-- own tables are joined in any order [listed]
SELECT p.parent, count(*) AS n FROM sales s CROSS JOIN food p JOIN food f ON s.item = f.node AND p.node = f.parent GROUP BY 1;
SELECT p.parent, count(*) AS n FROM food p JOIN food f ON p.node = f.parent JOIN sales s ON s.item = f.node GROUP BY 1;
SELECT p.parent, count(*) AS n FROM sales s JOIN food f ON f.node = s.item JOIN food p ON p.node = f.parent GROUP BY 1;
-- numbers of persons may be written in another way
SELECT max(CASE WHEN c <> 2 THEN c END) AS m FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid);
SELECT max(c) AS m FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) WHERE c <> 2;
-- subqueries name columns of the rows around them
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, (SELECT count(*) FROM c d WHERE d.n > c.n) AS n FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item, l.n FROM c, LATERAL (SELECT count(*) AS n FROM c d WHERE c.n < d.n) l;
-- subqueries name columns of the rows around them [listed]
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE EXISTS (SELECT 1 FROM prices WHERE prices.item = c.item AND price > 2);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE item IN (SELECT item FROM prices WHERE price > 2);
-- subqueries name columns of the rows around them
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n IN (SELECT max(n) FROM c);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE (n, 1) IN (SELECT max(n), 1 FROM c);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n = (SELECT max(n) FROM c);
-- counts of items are joined
SELECT s.item, c.n, count(*) AS k FROM sales s JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) c ON c.item = s.item GROUP BY s.item, c.n;
SELECT item, greatest(count(*), 1) AS n, count(*) AS k FROM sales GROUP BY item;
-- counts of items are joined
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT b.item, count(*) / c.n AS n FROM sales a JOIN sales b USING (tid) JOIN c ON c.item = a.item WHERE a.item = 'milk' AND b.item <> 'milk' GROUP BY b.item, c.n;
SELECT item, count(*) / greatest((SELECT count(*) FROM sales WHERE item = 'milk'), 1) AS n FROM sales WHERE item <> 'milk' AND tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item;
-- counts of items are joined
SELECT item, count(*) / t.n AS n FROM sales, (SELECT count(DISTINCT tid) AS n FROM sales) t GROUP BY item, t.n;
SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item;
-- counts of items are joined
SELECT count(*) FILTER (WHERE item = 'milk') / t.n AS n FROM sales CROSS JOIN (SELECT count(DISTINCT tid) AS n FROM sales) t GROUP BY t.n;
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') / (SELECT count(DISTINCT tid) FROM sales) AS n;
-- set operations are of rows
SELECT count(*) AS n FROM (SELECT tid, item FROM sales WHERE item IN ('milk', 'bread') UNION SELECT tid, item FROM sales WHERE item > 'bz');
SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread') OR item > 'bz';
-- set operations are of rows
SELECT item, count(*) AS n FROM (SELECT tid, item FROM sales WHERE item IN ('milk', 'bread') INTERSECT SELECT tid, item FROM sales WHERE item > 'bz') GROUP BY 1;
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') AND item > 'bz' GROUP BY item;
-- set operations are of rows
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item FROM sales EXCEPT SELECT tid, item FROM sales WHERE item IN ('milk', 'bread'));
SELECT count(DISTINCT tid) AS n FROM sales WHERE item NOT IN ('milk', 'bread');
-- set operations are of rows
SELECT i, count(*) AS n FROM (SELECT item AS i, tid FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') EXCEPT SELECT x.item, x.tid FROM (SELECT tid, item FROM sales WHERE item IN ('milk', 'bread')) x) GROUP BY i;
SELECT item AS i, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND item NOT IN ('milk', 'bread') GROUP BY item;
-- rows of self joins are counted by item [listed]
SELECT a.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid GROUP BY a.item;
SELECT item, sum(c) AS n FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales) GROUP BY item;
-- rows of self joins are counted by item [listed]
SELECT item, count(*) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item < s.item) GROUP BY item;
SELECT item, count(*) AS n FROM (SELECT tid, min(item) AS item FROM sales GROUP BY tid) GROUP BY item;
-- quotients are averages
SELECT (count(*) - count(DISTINCT tid)) / nullif(count(DISTINCT tid), 0) AS n FROM sales;
SELECT avg(c) - 1 AS n FROM (SELECT count(*) AS c FROM sales GROUP BY tid);
-- quotients are averages
SELECT 100.0 * (count(*) - count(*) FILTER (WHERE item = 'milk')) / nullif(count(*), 0) AS n FROM sales;
SELECT 100.0 * (1 - avg(CASE WHEN item = 'milk' THEN 1 ELSE 0 END)) AS n FROM sales;
-- quotients are averages
SELECT sum(length(item)) / count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'dates');
SELECT avg(length(item)) AS n FROM sales WHERE item IN ('milk', 'bread', 'dates');
-- quotients are averages
SELECT sum(CASE WHEN a.tid IS NOT NULL AND b.tid IS NOT NULL THEN 1 ELSE 0 END) / nullif(count(*), 0) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') b ON a.tid = b.tid;
SELECT avg(CASE WHEN c = 2 THEN 1 ELSE 0 END) AS n FROM (SELECT count(*) AS c FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid);
-- quotients are averages
SELECT covar_pop(x, y) AS n FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid);
SELECT (avg(x * y) - avg(x) * avg(y)) AS n FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid);
-- quotients are averages
SELECT covar_samp(x, y) AS n FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid);
SELECT (avg(x * y) - avg(x) * avg(y)) * count(*) / nullif(count(*) - 1, 0) AS n FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid);
-- ranks are numbers of rows before
SELECT item, rank() OVER (ORDER BY n DESC) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, 1 + (SELECT count(*) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) d WHERE d.n > c.n AND d.item <> c.item) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c;
-- ranks are numbers of rows before
SELECT item, row_number() OVER (ORDER BY n DESC, item) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, 1 + (SELECT count(*) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) d WHERE (d.n > c.n OR d.n = c.n AND d.item < c.item) AND d.item <> c.item) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c;
-- ranks are numbers of rows before
SELECT r AS n FROM (SELECT item, rank() OVER (ORDER BY n DESC) AS r FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) WHERE item = 'bread';
SELECT 1 + (SELECT count(*) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) d WHERE d.n > c.n AND d.item <> c.item) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c WHERE item = 'bread';
-- rows are listed in other shapes
SELECT l.other, count(*) AS n FROM sales s, LATERAL (SELECT t.item AS other FROM sales t WHERE t.tid = s.tid AND item <> 'milk') l WHERE s.item = 'milk' GROUP BY 1;
SELECT b.item AS other, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND b.item <> 'milk' WHERE a.item = 'milk' GROUP BY 1;
-- rows are listed in other shapes
SELECT count(*) AS n FROM sales s LEFT JOIN LATERAL (SELECT item FROM sales t WHERE t.tid = s.tid AND t.item = 'figs') l ON true WHERE l.item IS NULL;
SELECT count(*) AS n FROM sales s WHERE NOT EXISTS (FROM sales t WHERE t.tid = s.tid AND t.item = 'figs');
-- rows are listed in other shapes
SELECT DISTINCT item, n FROM (SELECT item, count(*) OVER (PARTITION BY item) AS n FROM sales) WHERE n > 2;
SELECT item, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n > 2;
-- rows are listed in other shapes
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales;
SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item;
-- rows are listed in other shapes
SELECT price, count(*) AS n FROM prices SEMI JOIN sales USING (item) GROUP BY price;
SELECT price, count(*) AS n FROM prices WHERE item IN (SELECT item FROM sales) GROUP BY price;
-- running totals are in an order of counts
SELECT item, sum(n) OVER (ORDER BY n DESC, item) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, sum(count(*)) OVER (ORDER BY count(*) DESC, item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM sales GROUP BY item;
-- running totals are in an order of counts
SELECT item, count(*) OVER (ORDER BY n, item DESC) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, count(n) OVER (ORDER BY n, item DESC ROWS UNBOUNDED PRECEDING) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- running totals are in an order of counts
SELECT k, count(*) AS n FROM (SELECT CASE WHEN sum(n) OVER (ORDER BY n DESC, item ROWS UNBOUNDED PRECEDING) > 8 THEN 'a' ELSE 'b' END AS k FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) GROUP BY k;
SELECT CASE WHEN s > 8 THEN 'a' ELSE 'b' END AS k, count(*) AS n FROM (SELECT sum(n) OVER (ORDER BY n DESC, item ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) GROUP BY 1;
-- groups are compared with the other ones
WITH c AS (SELECT item, length(item) AS l, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) SELECT item, n FROM c WHERE n >= ALL (SELECT n FROM c d WHERE d.l = c.l);
WITH c AS (SELECT item, length(item) AS l, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.l = c.l AND d.n > c.n);
-- groups are compared with the other ones
WITH c AS (SELECT item, length(item) AS l, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) SELECT item, n FROM c WHERE n > ANY (SELECT n FROM c d WHERE d.l = c.l);
WITH c AS (SELECT item, length(item) AS l, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) SELECT item, n FROM c WHERE n > (SELECT min(n) FROM c d WHERE d.l = c.l);
-- groups are compared with the other ones
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT count(*) AS n FROM c a LEFT JOIN c b ON b.n > a.n WHERE b.n IS NULL AND a.n > 2;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT count(*) AS n FROM c a WHERE NOT EXISTS (FROM c b WHERE b.n > a.n) AND a.n > 2;
-- whole powers are of any number
SELECT power(count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs'), 2) AS n FROM sales;
SELECT abs(count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs')) ** 2 AS n FROM sales;
-- whole powers are of any number
SELECT item, (n - 3) ** 3 AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, CASE WHEN n >= 3 THEN power(n - 3, 3) ELSE -power(3 - n, 3) END AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- a join with chosen items is a condition on items [listed]
SELECT count(*) AS n FROM sales s JOIN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) f USING (item);
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- a join with chosen items is a condition on items [listed]
WITH c AS (SELECT item, count(*) AS k FROM sales GROUP BY item) SELECT count(DISTINCT tid) AS n FROM sales s JOIN c ON c.item = s.item WHERE c.k > 9 AND s.item <> 'milk';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) AND item <> 'milk';
-- a join with chosen items is a condition on items [listed]
SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales m USING (tid) JOIN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) f ON f.item = s.item WHERE m.item = 'milk';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) AND tid IN (SELECT tid FROM sales WHERE item = 'milk');
-- a join with chosen items is a condition on items [listed]
SELECT tid IN (SELECT tid FROM sales WHERE item = 'milk') AS m, count(*) AS n FROM (SELECT DISTINCT tid FROM sales JOIN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) f USING (item)) GROUP BY 1;
SELECT tid IN (SELECT tid FROM sales WHERE item = 'milk') AS m, count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) GROUP BY 1;
-- a join with chosen items is a condition on items
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p WHERE 'milk' <> ALL (SELECT item FROM sales o WHERE o.tid = p.tid) AND 'bread' IN (SELECT item FROM sales o WHERE o.tid = p.tid);
SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- a score of few items has the groups of their flags
SELECT v, count(*) AS n FROM (SELECT sum(CASE item WHEN 'milk' THEN 1 WHEN 'bread' THEN 1 WHEN 'figs' THEN -2 ELSE 0 END) AS v FROM sales GROUP BY tid) GROUP BY v;
SELECT v, count(*) AS n FROM (SELECT coalesce(sum(CASE item WHEN 'milk' THEN 1 WHEN 'bread' THEN 1 WHEN 'figs' THEN -2 END), 0) AS v FROM sales GROUP BY tid) GROUP BY v;
SELECT v, count(*) AS n FROM (SELECT coalesce(sum(weight), 0) AS v FROM sales LEFT JOIN (VALUES ('milk', 1), ('bread', 1), ('figs', -2)) w(item, weight) USING (item) GROUP BY tid) GROUP BY v;
SELECT v, count(*) AS n FROM (SELECT milk + bread - 2 * figs AS v FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS milk, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS bread, max(CASE WHEN item = 'figs' THEN 1 ELSE 0 END) AS figs FROM sales GROUP BY tid)) GROUP BY v;
-- a sum of nothing is what takes its place [listed]
SELECT count(*) AS n FROM (SELECT coalesce(sum(price), 0) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item GROUP BY s.tid) WHERE v < 3;
SELECT count(*) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item GROUP BY s.tid) WHERE v < 3;
-- a sum of nothing is what takes its place [listed]
SELECT avg(coalesce(v, 0)) AS n FROM (SELECT sum(price) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item GROUP BY s.tid);
SELECT avg(v) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item GROUP BY s.tid);
-- a sum of nothing is what takes its place [listed]
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) b WHERE coalesce((SELECT sum(price) FROM sales JOIN prices USING (item) WHERE tid = b.tid), 0) >= 3;
SELECT count(*) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item GROUP BY s.tid) WHERE v >= 3;
-- a sum of nothing is what takes its place [listed]
SELECT count(*) AS n FROM (SELECT coalesce(sum(CASE item WHEN 'milk' THEN 1 WHEN 'bread' THEN 1 WHEN 'figs' THEN -2 END), 5) AS v FROM sales GROUP BY tid) WHERE v > 4;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item IN ('milk', 'bread', 'figs')));
-- sides of a FULL JOIN are persons with a row
SELECT count(CASE WHEN a.tid IS NOT NULL AND b.tid IS NOT NULL THEN 1 END) / nullif(count(*), 0) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') b ON a.tid = b.tid;
SELECT avg(CASE WHEN c = 2 THEN 1 ELSE 0 END) AS n FROM (SELECT count(*) AS c FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread')) GROUP BY tid);
-- sides of a FULL JOIN are persons with a row
SELECT count(coalesce(a.tid, b.tid)) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') b ON a.tid = b.tid;
SELECT count(DISTINCT tid) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread'));
-- sides of a FULL JOIN are persons with a row
SELECT item, count(*) AS n FROM sales JOIN (SELECT coalesce(a.tid, b.tid) AS tid FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') b ON b.tid = a.tid WHERE a.tid IS NULL OR b.tid IS NULL) USING (tid) GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 1) GROUP BY item;
-- the greatest of two numbers is whether some row has it
SELECT item, max(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'milk') THEN 1 ELSE 0 END) AS n FROM sales GROUP BY item;
SELECT item, CASE WHEN count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')) > 0 THEN 1 ELSE 0 END AS n FROM sales GROUP BY item;
-- the greatest of two numbers is whether some row has it
SELECT item, min(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'milk') THEN 2.5 ELSE 0 END) AS n FROM sales GROUP BY item;
SELECT item, CASE WHEN bool_and(tid IN (SELECT tid FROM sales WHERE item = 'milk')) THEN 2.5 ELSE 0 END AS n FROM sales GROUP BY item;
-- the greatest of two numbers is whether some row has it
SELECT max(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'milk') THEN 0 ELSE 4 END) FILTER (WHERE item = 'bread') AS n FROM sales;
SELECT CASE WHEN count(*) FILTER (WHERE item = 'bread') > 0 THEN CASE WHEN count(*) FILTER (WHERE item = 'bread' AND NOT tid IN (SELECT tid FROM sales WHERE item = 'milk')) > 0 THEN 4 ELSE 0 END END AS n FROM sales;
-- a list of looked up values has a text with an item [listed]
SELECT count(*) AS n FROM (SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE list_has_all(l, ['dairy', 'bakery']);
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'dairy' INTERSECT SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'bakery');
-- a list of looked up values has a text with an item [listed]
SELECT count(*) AS n FROM (SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE list_contains(l, 'dairy') AND NOT 'fruit' = ANY(l);
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'dairy' EXCEPT SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'fruit');
-- a list of looked up values has a text with an item [listed]
SELECT count(*) AS n FROM (SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE list_has_any(l, ['fruit', 'bakery', 'none']);
SELECT count(DISTINCT tid) AS n FROM (SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'fruit' UNION ALL SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'bakery');
-- a list of looked up values has a text with an item [listed]
SELECT count(*) AS n FROM (SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE len(l) > 1;
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item GROUP BY tid HAVING count(*) > 1);
-- a list of looked up values has a text with an item [listed]
SELECT count(*) AS n FROM (SELECT list(left(item, 1)) AS l FROM sales GROUP BY tid) WHERE list_contains(l, 'm');
SELECT count(DISTINCT tid) AS n FROM sales WHERE left(item, 1) = 'm';
-- places are numbers and groups stand beside groups
SELECT count(*) AS n FROM (SELECT min(price) AS v, max(price) AS w FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid) WHERE v = w;
SELECT count(*) AS n FROM (SELECT s.tid FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid HAVING count(DISTINCT price) = 1);
-- places are numbers and groups stand beside groups
SELECT count(*) AS n FROM (SELECT min(f.parent) AS v, max(f.parent) AS w FROM sales s JOIN food f ON f.node = s.item GROUP BY s.tid) WHERE v < w;
SELECT count(*) AS n FROM (SELECT s.tid FROM sales s JOIN food f ON f.node = s.item GROUP BY s.tid HAVING count(DISTINCT f.parent) >= 2);
-- places are numbers and groups stand beside groups
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), t AS (SELECT sum(n) AS total FROM c) SELECT c.item, c.n / t.total AS n, t.total FROM c, t;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n / sum(n) OVER () AS n, (SELECT sum(d.n) FROM c d) AS total FROM c;
-- places are numbers and groups stand beside groups
SELECT s.item, sum(CASE WHEN price > 1 THEN n ELSE 0 END) / sum(n) AS n, max(price) AS p FROM (SELECT s.item, price, count(*) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY ALL) s GROUP BY s.item;
SELECT s.item, avg(CASE WHEN price > 1 THEN 1 ELSE 0 END) AS n, max(price) AS p FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.item;
-- places are numbers and groups stand beside groups
SELECT price, count(*) - sum(CASE WHEN s.item = 'milk' THEN 1 ELSE 0 END) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY price;
SELECT price, count(*) FILTER (WHERE s.item <> 'milk') AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY price;
-- places are numbers and groups stand beside groups
SELECT price, count(*) - count(*) FILTER (WHERE s.item = 'milk') - count(CASE WHEN s.item = 'bread' THEN 1 END) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY price;
SELECT price, count(*) FILTER (WHERE s.item NOT IN ('milk', 'bread')) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY price;
-- places are numbers and groups stand beside groups
WITH c AS (SELECT DISTINCT s.tid, f.parent AS v FROM sales s JOIN food f ON f.node = s.item) SELECT least(a.v, b.v) AS k, greatest(a.v, b.v) AS l, count(DISTINCT a.tid) AS n FROM c a JOIN c b USING (tid) WHERE a.v <> b.v GROUP BY 1, 2;
WITH c AS (SELECT s.tid, f.parent AS v FROM sales s JOIN food f ON f.node = s.item) SELECT a.v AS k, b.v AS l, count(DISTINCT a.tid) AS n FROM c a JOIN c b ON a.tid = b.tid WHERE b.v > a.v GROUP BY 1, 2;
-- places are numbers and groups stand beside groups
SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN prices p ON p.item = s.item JOIN sales t ON t.tid = s.tid JOIN prices q ON q.item = t.item WHERE s.item = 'milk' AND p.price < q.price;
SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item IN ('bread', 'butter');
-- places are numbers and groups stand beside groups
WITH d AS (SELECT count(*) AS n FROM sales WHERE item = 'dates'), t AS (SELECT count(DISTINCT tid) AS n FROM sales) SELECT 1 AS k, 1 / nullif(d.n / t.n, 0) AS n FROM d, t;
SELECT 1 AS k, count(DISTINCT tid) / nullif(count(*) FILTER (WHERE item = 'dates'), 0) AS n FROM sales;
-- places are numbers and groups stand beside groups
SELECT 1 AS k, covar_pop(n, n) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT 1 AS k, var_pop(n) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
-- places are numbers and groups stand beside groups
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT DISTINCT n, count(*) OVER (ORDER BY n) AS c FROM p;
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT n, sum(count(*)) OVER (ORDER BY n) AS c FROM p GROUP BY n;
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), h AS (SELECT n, count(*) AS k FROM p GROUP BY n) SELECT n, sum(k) OVER (ORDER BY n) AS c FROM h;
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT k.n, (SELECT count(*) FROM p WHERE p.n <= k.n) AS c FROM (SELECT DISTINCT n FROM p) k;
-- places are numbers and groups stand beside groups
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT DISTINCT n, cume_dist() OVER (ORDER BY n) AS c FROM p;
WITH p AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT k.n, (SELECT count(*) FROM p WHERE p.n <= k.n) / (SELECT count(*) FROM p) AS c FROM (SELECT DISTINCT n FROM p) k;
-- places are numbers and groups stand beside groups
SELECT p.price, count(DISTINCT s.tid) AS n FROM sales s JOIN prices p ON p.item = s.item WHERE NOT EXISTS (SELECT 1 FROM sales t JOIN prices q ON q.item = t.item WHERE t.tid = s.tid AND q.price > p.price) GROUP BY p.price;
SELECT top, count(*) AS n FROM (SELECT max(p.price) AS top FROM sales s JOIN prices p ON p.item = s.item GROUP BY tid) GROUP BY top;
-- places are numbers and groups stand beside groups
SELECT c AS n, count(*) / c AS k FROM (SELECT count(*) OVER (PARTITION BY tid) AS c FROM sales) GROUP BY c;
SELECT n, count(*) AS k FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n;
-- places are numbers and groups stand beside groups
SELECT b[1] AS k, count(*) AS n FROM (SELECT list(item) AS b FROM sales GROUP BY tid) WHERE len(b) = 1 GROUP BY 1;
SELECT k, count(*) AS n FROM (SELECT min(item) AS k FROM sales GROUP BY tid HAVING count(*) = 1) GROUP BY k;
-- places are numbers and groups stand beside groups
SELECT avg(n) FILTER (WHERE n > 0) AS n FROM (SELECT sum(CASE WHEN parent = 'dairy' THEN price ELSE 0 END) AS n FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY tid);
SELECT avg(n) AS n FROM (SELECT sum(price) AS n FROM sales JOIN prices USING (item) JOIN food ON node = item WHERE parent = 'dairy' GROUP BY tid);
-- places are numbers and groups stand beside groups
SELECT a.item, count(*) / count(DISTINCT a.tid) AS n FROM sales a JOIN sales b ON b.tid = a.tid GROUP BY a.item;
SELECT item, avg(n) AS n FROM sales JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) USING (tid) GROUP BY item;
-- places are numbers and groups stand beside groups
WITH RECURSIVE d AS (SELECT node FROM food WHERE parent = 'all' UNION SELECT f.node FROM d, food f WHERE f.parent = d.node), b AS (SELECT count(*) AS k FROM sales WHERE item IN (SELECT node FROM d) GROUP BY tid) SELECT sum(k) AS n FROM b;
SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food);
-- places are numbers and groups stand beside groups
WITH s AS (SELECT tid, item, parent FROM sales JOIN food ON node = item) SELECT a.parent AS k, count(*) AS n FROM s a, s b WHERE a.tid = b.tid AND a.item < b.item AND a.parent = b.parent GROUP BY a.parent;
WITH s AS (SELECT tid, item, parent FROM sales JOIN food ON node = item) SELECT a.parent AS k, count(*) AS n FROM s a JOIN s b ON b.tid = a.tid AND b.item > a.item AND b.parent = a.parent GROUP BY a.parent;
-- places are numbers and groups stand beside groups
SELECT k, count(tid) AS n FROM (SELECT tid, arg_max(price, price) AS k FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY 1;
SELECT k, count(*) AS n FROM (SELECT max(price) AS k FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY k;
-- places are numbers and groups stand beside groups
SELECT sum(n * price) / nullif(sum(n), 0) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN prices USING (item);
SELECT avg(price) AS m FROM sales JOIN prices USING (item);
-- places are numbers and groups stand beside groups
SELECT f.parent, sum(c.n * p.price) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c JOIN prices p ON p.item = c.item JOIN food f ON f.node = c.item GROUP BY f.parent;
SELECT parent, sum(price) AS m FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY parent;
-- places are numbers and groups stand beside groups
SELECT k, count(*) AS n FROM range(1, 4) r(k) JOIN prices ON price = k JOIN sales USING (item) GROUP BY k;
SELECT k, count(*) AS n FROM sales JOIN prices USING (item) JOIN range(1, 4) r(k) ON price = k GROUP BY k;
-- a function of a list is an aggregate
SELECT sum(s) / count(*) AS n FROM (SELECT list_sum(list(price)) AS s FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT sum(s) / count(*) AS n FROM (SELECT sum(price) AS s FROM sales JOIN prices USING (item) GROUP BY tid);
-- a function of a list is an aggregate
SELECT list_min(l) AS a, list_aggregate(l, 'max') AS b, list_avg(l) AS c FROM (SELECT list(n) AS l FROM (SELECT count(*) AS n FROM sales GROUP BY tid));
SELECT min(n) AS a, max(n) AS b, avg(n) AS c FROM (SELECT count(*) AS n FROM sales GROUP BY tid);
-- a function of a list is an aggregate
SELECT q[1] AS a, q[2] AS b FROM (SELECT quantile_disc(n, [.25, .5]) AS q FROM (SELECT count(*) AS n FROM sales GROUP BY tid));
SELECT quantile_disc(n, .25) AS a, quantile_disc(n, .5) AS b FROM (SELECT count(*) AS n FROM sales GROUP BY tid);
-- a function of a list is an aggregate
SELECT l[1] AS a FROM (SELECT list(n ORDER BY n DESC) AS l FROM (SELECT count(*) AS n FROM sales GROUP BY tid));
SELECT max(n) AS a FROM (SELECT count(*) AS n FROM sales GROUP BY tid);
-- a function of a list is an aggregate
WITH p AS (SELECT tid, list(item) AS l FROM sales GROUP BY tid) SELECT len(p.l) AS k, count(*) AS n FROM p GROUP BY len(p.l);
SELECT n AS k, count(*) AS n FROM (SELECT count(*) AS n FROM sales GROUP BY tid) GROUP BY k;
-- a function of a list is an aggregate
SELECT count(*) AS n FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid) WHERE list_unique(l) > 2 AND list_contains(l, 'milk');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 2 AND bool_or(item = 'milk'));
-- a function of a list is an aggregate
SELECT len(l) AS k, count(*) AS n FROM (SELECT list(DISTINCT parent) AS l FROM sales JOIN food ON item = node GROUP BY tid) GROUP BY 1;
SELECT k, count(*) AS n FROM (SELECT count(DISTINCT parent) AS k FROM sales JOIN food ON item = node GROUP BY tid) GROUP BY k HAVING k > 0;
-- a function of a list is an aggregate
SELECT item, len(list(tid)) AS n FROM sales GROUP BY item;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- conditions have several words
SELECT count(*) AS n FROM sales WHERE current_schema() = 'main';
SELECT count(*) AS n FROM sales;
-- conditions have several words
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE s IN (2);
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE s = 2;
-- conditions have several words
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE s IS DISTINCT FROM 2;
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE s <> 2 OR s IS NULL;
-- conditions have several words
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE s > NULL;
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS s FROM sales LEFT JOIN prices USING (item) GROUP BY tid) WHERE false;
-- conditions have several words
SELECT item, count(DISTINCT if(item < 'm', tid, NULL)) AS n FROM sales GROUP BY item;
SELECT item, count(DISTINCT CASE WHEN item < 'm' THEN tid ELSE NULL END) AS n FROM sales GROUP BY item;
SELECT item, count(DISTINCT CASE WHEN item < 'm' THEN tid END) AS n FROM sales GROUP BY item;
-- conditions have several words
SELECT item, sum(if(item < 'm', 2, 1)) AS n FROM sales GROUP BY item;
SELECT item, sum(CASE WHEN item < 'm' THEN 2 ELSE 1 END) AS n FROM sales GROUP BY item;
-- conditions have several words
SELECT item, count_if(item = ANY (SELECT item FROM prices)) AS n FROM sales GROUP BY item;
SELECT item, count_if(item IN (SELECT item FROM prices)) AS n FROM sales GROUP BY item;
-- conditions have several words
SELECT item, count_if(item <> ALL (SELECT item FROM prices)) AS n FROM sales GROUP BY item;
SELECT item, count_if(item NOT IN (SELECT item FROM prices)) AS n FROM sales GROUP BY item;
-- aggregates over groups have plain words
SELECT item, s / n AS m FROM (SELECT item, sum(price) AS s, count(*) AS n FROM sales JOIN prices USING (item) GROUP BY item);
SELECT item, s / n AS m FROM (SELECT item, sum(price) AS s, count(*) AS n FROM sales JOIN prices USING (item) GROUP BY item) ORDER BY n, m;
SELECT item, avg(price) AS m FROM sales JOIN prices USING (item) GROUP BY item;
-- aggregates over groups have plain words
SELECT sum(price) / count(DISTINCT tid) AS m FROM sales JOIN prices USING (item);
SELECT avg(v) AS m FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
-- aggregates over groups have plain words
SELECT parent, max(k) AS n FROM (SELECT DISTINCT parent, tid, count(*) OVER (PARTITION BY parent, tid) AS k FROM sales JOIN food ON node = item) GROUP BY parent;
SELECT parent, max(k) AS n FROM (SELECT parent, tid, count(*) AS k FROM sales JOIN food ON node = item GROUP BY ALL) GROUP BY parent;
-- aggregates over groups have plain words
SELECT item, max(n) AS m, avg(n) AS a FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) GROUP BY item;
SELECT item, n AS m, n::DOUBLE AS a FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- aggregates over groups have plain words
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), d AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item, d.n - c.n AS x FROM c LEFT JOIN d USING (item);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), d AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item, d.n - c.n AS x FROM c LEFT JOIN d ON c.item = d.item;
-- aggregates over groups have plain words
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), d AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT d.n - c.n AS x FROM c LEFT JOIN d USING (item);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), d AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT d.n - c.n AS x FROM c LEFT JOIN d ON c.item = d.item;
-- aggregates over groups have plain words
SELECT sum(price) / count() AS m FROM sales JOIN prices USING (item);
SELECT avg(price) AS m FROM sales JOIN prices USING (item);
-- aggregates over groups have plain words
SELECT item, count(*) * max(price) AS v FROM sales JOIN prices USING (item) GROUP BY item;
SELECT item, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY item;
-- aggregates over groups have plain words
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item FROM sales WHERE item > 'c') WHERE item < 'g';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item > 'c' AND item < 'g';
-- aggregates over groups have plain words
SELECT count(a.tid) AS x, count(b.tid) AS y, count(c.tid) AS z FROM (SELECT tid FROM sales WHERE item = 'milk') a LEFT JOIN (SELECT tid FROM sales WHERE item = 'figs') b ON b.tid = a.tid LEFT JOIN (SELECT tid FROM sales WHERE item = 'bread') c ON c.tid = b.tid;
SELECT count(*) FILTER (WHERE a) AS x, count(*) FILTER (WHERE a AND b) AS y, count(*) FILTER (WHERE a AND b AND c) AS z FROM (SELECT tid, bool_or(item = 'milk') AS a, bool_or(item = 'figs') AS b, bool_or(item = 'bread') AS c FROM sales GROUP BY tid);
-- aggregates over groups have plain words
SELECT count(*) FILTER (WHERE a.tid = b.tid) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'figs') b ON a.tid = b.tid;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a JOIN (SELECT tid FROM sales WHERE item = 'figs') b USING (tid);
-- aggregates over groups have plain words
SELECT v.p, l.item, l.n FROM (SELECT DISTINCT parent AS p FROM food WHERE parent <> 'all') v, LATERAL (SELECT item, count(*) AS n FROM sales JOIN food ON node = item WHERE parent = v.p GROUP BY item) l;
SELECT parent AS p, item, count(*) AS n FROM sales JOIN food ON node = item WHERE parent <> 'all' GROUP BY ALL;
-- aggregates over groups have plain words
WITH i AS (SELECT parent, item, count(*) AS n FROM sales JOIN food ON node = item GROUP BY ALL), c AS (SELECT parent, sum(n) AS n FROM i GROUP BY parent) SELECT i.item, i.n AS n FROM i JOIN c USING (parent) WHERE i.parent = c.parent;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- aggregates over groups have plain words
SELECT item, count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) AND EXISTS (SELECT 1 FROM sales o WHERE o.tid = sales.tid AND o.item = 'milk') GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) AND tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item;
-- aggregates over groups have plain words
SELECT item, count(*) AS n FROM (SELECT tid, item FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 0) GROUP BY item;
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 0;
-- aggregates over groups have plain words
SELECT s.item, min(t.n) AS n FROM sales s JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) t USING (item) GROUP BY s.item;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- aggregates over groups have plain words
SELECT f.parent, count(tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent;
SELECT f.parent, count(s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent;
-- a number of a group that a world lacks is one of counts and sums that are 0
SELECT k, greatest(count(*), 0) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k;
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k;
-- a number of a group that a world lacks is one of counts and sums that are 0
SELECT k, CASE WHEN count(*) > 0 THEN count(*) + 1 ELSE 1 END - 1 AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k;
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k;
-- a number of a group that a world lacks is one of counts and sums that are 0
SELECT k, n / t AS n FROM (SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k), (SELECT count(DISTINCT tid) AS t FROM sales);
SELECT k, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k;
-- a number of a group that a world lacks is one of counts and sums that are 0
SELECT o.item, 100.0 * count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales s JOIN sales o USING (tid) WHERE s.item = 'milk' GROUP BY o.item HAVING count(*) > 0;
SELECT item, 100.0 * count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item HAVING count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')) > 0;
-- a condition on the number by which persons are grouped keeps whole groups
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) WHERE k < 4 GROUP BY k HAVING count(*) > 0;
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid HAVING count(*) < 4) GROUP BY k HAVING count(*) > 0;
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k HAVING k < 4 AND count(*) > 0;
-- a condition on the number by which persons are grouped keeps whole groups [listed]
SELECT count(*) AS n FROM (SELECT k FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) WHERE k < 4 GROUP BY k);
SELECT count(DISTINCT k) AS n FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) WHERE k < 4;
-- a condition on the number by which persons are grouped keeps whole groups
SELECT k, count(*) AS n FROM (SELECT tid, count_if(item IN ('milk', 'bread', 'figs')) AS k FROM sales GROUP BY tid) WHERE k BETWEEN 1 AND 2 GROUP BY k HAVING count(*) > 0;
SELECT k, count(*) AS n FROM (SELECT tid, count_if(item IN ('milk', 'bread', 'figs')) AS k FROM sales GROUP BY tid) GROUP BY k HAVING k BETWEEN 1 AND 2 AND count(*) > 0;
-- ROWS up to a row of a key are those of RANGE
SELECT k, sum(c) OVER (ORDER BY k ROWS UNBOUNDED PRECEDING) AS n FROM (SELECT k, count(*) AS c FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k);
SELECT k, sum(c) OVER (ORDER BY k RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM (SELECT k, count(*) AS c FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k);
SELECT k, sum(c) OVER (ORDER BY k) AS n FROM (SELECT k, count(*) AS c FROM (SELECT tid, count(*) AS k FROM sales GROUP BY tid) GROUP BY k);
-- rows of an item that exclude each other are listed together
SELECT s.item, count(*) AS n FROM sales s LEFT JOIN sales b ON b.tid = s.tid AND b.item = 'bread' GROUP BY s.item;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- each number of few items is that of the persons with as many and no more
SELECT k, count(*) AS n FROM (SELECT tid, count_if(item IN ('milk', 'bread', 'figs')) AS k FROM sales GROUP BY tid) GROUP BY k;
SELECT k, count(*) AS n FROM (SELECT p.tid, coalesce(d.k, 0) AS k FROM (SELECT DISTINCT tid FROM sales) p LEFT JOIN (SELECT tid, count(*) AS k FROM sales WHERE item IN ('milk', 'bread', 'figs') GROUP BY tid) d USING (tid)) GROUP BY k;
-- a number of rows by that of more rows is an average
SELECT count_if(a) / nullif(count_if(a OR b), 0) AS n FROM (SELECT tid, bool_or(item = 'figs') AS a, bool_or(item = 'milk') AS b FROM sales GROUP BY tid);
SELECT avg(a::INTEGER) AS n FROM (SELECT tid, bool_or(item = 'figs') AS a, bool_or(item = 'milk') AS b FROM sales GROUP BY tid) WHERE a OR b;
-- a sum by the number of rows that have a value is an average
SELECT sum(CASE item WHEN 'milk' THEN 3 WHEN 'figs' THEN 5 END) / nullif(count_if(item IN ('milk', 'figs')), 0) AS n FROM sales;
SELECT sum(CASE item WHEN 'milk' THEN 3 WHEN 'figs' THEN 5 END) / nullif(count(*) FILTER (WHERE item IN ('milk', 'figs')), 0) AS n FROM sales;
SELECT avg(CASE item WHEN 'milk' THEN 3 WHEN 'figs' THEN 5 END) AS n FROM sales;
-- an average over groups is their sum by their number
WITH c AS (SELECT item, count(tid) AS k FROM sales GROUP BY 1) SELECT sum(k) / nullif(count(item), 0) AS n FROM c;
SELECT sum(k) / count(*) AS n FROM (SELECT item, count(*) AS k FROM sales GROUP BY item);
SELECT avg(k) AS n FROM (SELECT item, count(*) AS k FROM sales GROUP BY item);
-- an average over groups is their sum by their number
SELECT avg(k) FILTER (WHERE k > 9) AS n FROM (SELECT item, count(*) AS k FROM sales GROUP BY item);
SELECT sum(k) / count(*) AS n FROM (SELECT item, count(*) AS k FROM sales GROUP BY item) WHERE k > 9;
-- plain words are read for others
SELECT count(DISTINCT s.tid) AS n FROM sales a RIGHT JOIN sales s ON a.tid = s.tid AND a.item = 'milk' WHERE a.tid IS NULL;
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
-- plain words are read for others
SELECT count(*) AS n FROM sales s, LATERAL (SELECT 1 AS one FROM sales o WHERE o.tid = s.tid AND o.item = 'milk') l WHERE s.item = 'figs';
SELECT count(*) AS n FROM sales WHERE item = 'figs' AND tid IN (SELECT tid FROM sales WHERE item = 'milk');
-- plain words are read for others
SELECT count(*) AS n FROM (SELECT DISTINCT ON (tid) tid FROM sales WHERE item IN ('milk', 'figs'));
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'figs');
-- plain words are read for others
SELECT item = 'milk' AS f, count(DISTINCT (tid, item)) AS n FROM sales GROUP BY f;
SELECT item = 'milk' AS f, count(*) AS n FROM sales GROUP BY f;
-- plain words are read for others
SELECT first(n ORDER BY n DESC) AS n FROM (SELECT count(*) AS n FROM sales GROUP BY item);
SELECT max(n) AS n FROM (SELECT count(*) AS n FROM sales GROUP BY item);
-- plain words are read for others
WITH f AS (SELECT item FROM sales GROUP BY item HAVING count(*) > 9) SELECT count(DISTINCT tid) AS n FROM sales SEMI JOIN f USING (item);
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 9);
-- plain words are read for others
SELECT f.parent, count_if(s.tid IS NOT NULL) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent;
SELECT f.parent, count(s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent;
-- a source names its columns
SELECT p.item, c.n FROM prices p JOIN (SELECT item, count(*) FROM sales GROUP BY item) c(item, n) ON c.item = p.item;
WITH c(i, n) AS (SELECT item, count(*) FROM sales GROUP BY item), d AS (SELECT * FROM c) SELECT p.item, d.n FROM prices p JOIN d ON d.i = p.item;
SELECT p.item, c.n FROM prices p JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) c ON c.item = p.item;
-- a source names its columns
SELECT count(*) AS n FROM prices p LEFT JOIN (SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) c ON c.item = p.item WHERE c.item IS NULL;
SELECT count(*) AS n FROM prices p LEFT JOIN (SELECT item, count(*) FROM sales GROUP BY item) c(item, n) ON c.item = p.item WHERE c.item IS NULL;
SELECT count(*) AS n FROM prices p LEFT JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) c ON c.item = p.item WHERE c.item IS NULL;
-- how often a person has one item is a flag
SELECT covar_pop(a, b) AS v, corr(a, b) AS c FROM (SELECT tid, count(*) FILTER (WHERE item = 'milk') AS a, count(*) FILTER (WHERE item = 'bread') AS b FROM sales GROUP BY tid);
SELECT covar_pop(a, b) AS v, corr(a, b) AS c FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS a, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS b FROM sales GROUP BY tid);
-- rows of a source without others of it are those that meet no second condition
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT * FROM c EXCEPT SELECT * FROM c WHERE n >= 9;
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) < 9;
-- rows of a source without others of it are those that meet no second condition
SELECT count(*) AS n FROM (SELECT item FROM sales EXCEPT ALL SELECT item FROM sales WHERE item = 'milk');
SELECT count(*) AS n FROM sales WHERE item <> 'milk';
-- the rows of a list of each group are those of the group
SELECT item, count(*) AS n FROM (SELECT tid, unnest(list(item)) AS item FROM sales GROUP BY tid) GROUP BY item;
SELECT item, count(*) AS n FROM (SELECT unnest(array_agg(item)) AS item FROM sales GROUP BY tid) GROUP BY item;
SELECT item, count(*) AS n FROM sales GROUP BY item;
-- a function after its first operand is the function of it
SELECT count(*) AS n FROM sales s WHERE s.item.upper().length() = 4;
SELECT count(*) AS n FROM sales WHERE length(upper(item)) = 4;
-- other words for averages and sums are read as these [listed]
SELECT geometric_mean(k) AS g, favg(k) AS a, fsum(k) AS s, weighted_avg(k, 2) AS w FROM (SELECT count(*) AS k FROM sales GROUP BY tid);
SELECT exp(avg(ln(k))) AS g, avg(k) AS a, sum(k) AS s, avg(k) AS w FROM (SELECT count(*) AS k FROM sales GROUP BY tid);
-- the number of the first rows is that of all rows up to a limit
SELECT count(*) AS n FROM (SELECT * FROM sales ORDER BY item LIMIT 5);
SELECT least(5, count(*)) AS n FROM sales;
-- the number of the first rows is that of all rows up to a limit
SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 2 OFFSET 1);
SELECT least(2, greatest(count(DISTINCT item) - 1, 0)) AS n FROM sales;

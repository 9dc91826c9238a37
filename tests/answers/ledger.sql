-- The queries of the ledger of widths, as analysts write them, by shape; no shape has more than 5 % of them.
-- A line `-- NAME` or `-- NAME [OF]` begins a shape: without OF its queries read sales (tid, item), the analyst's own food
-- (node, parent) and prices (item, price, cheap); with [records] also customers (tid, age, sex, town, since); those with
-- [lists] read sales (tid, items), where items is a list. Each query is a line. Columns named r (a rank) or is_... are computed,
-- although they have no bounds.

-- counts of one item
SELECT count(*) AS n FROM sales WHERE item = 'milk';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'bread';
SELECT count(*) AS n FROM sales WHERE item = 'aspirin';
SELECT count(tid) AS n FROM sales WHERE 'figs' = item;
SELECT count(*) AS n FROM sales WHERE item = 'saffron';
SELECT count(*) AS n FROM sales WHERE item = 'no such item';
SELECT count(*) FILTER (WHERE item = 'beer') AS n FROM sales;
SELECT count_if(item = 'wine') AS n FROM sales;
SELECT sum(CASE WHEN item = 'butter' THEN 1 ELSE 0 END) AS n FROM sales;
SELECT count(CASE WHEN item = 'rolls' THEN 1 END) AS n FROM sales;
SELECT count(*) AS n, count(DISTINCT tid) AS p FROM sales WHERE item = 'cheese';
SELECT sum((item = 'water')::INTEGER) AS n FROM sales;

-- counts of rows of several items
SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread');
SELECT count(*) AS n FROM sales WHERE item = 'beer' OR item = 'wine' OR item = 'water';
SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'butter', 'cheese', 'yogurt');
SELECT count(*) AS n FROM sales WHERE item NOT IN ('milk', 'bread');
SELECT count(*) AS n FROM sales WHERE item <> 'aspirin';
SELECT count(*) FILTER (WHERE item = 'apple') + count(*) FILTER (WHERE item = 'pear') AS n FROM sales;
SELECT count(item) AS n FROM sales WHERE item = ANY(['rolls', 'bagel']);
SELECT count(*) AS n FROM sales;
SELECT count(item) AS n FROM sales;
SELECT count(*) FILTER (WHERE item IN ('milk', 'beer')) AS a, count(*) FILTER (WHERE item NOT IN ('milk', 'beer')) AS b FROM sales;
SELECT sum(CASE WHEN item IN ('apple', 'pear', 'figs') THEN 1 ELSE 0 END) AS n FROM sales;
SELECT count(*) AS n FROM sales WHERE item IN ('saffron', 'truffle', 'milk');

-- persons with any of several items
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread');
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('beer', 'wine', 'water');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') OR bool_or(item = 'figs'));
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales WHERE item = 'aspirin' OR item = 'plasters');
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'butter', 'cheese', 'yogurt', 'bread', 'rolls', 'bagel');
SELECT count(DISTINCT tid) AS n FROM sales;
SELECT count(DISTINCT tid) AS n FROM sales WHERE item <> 'milk';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item NOT IN ('milk', 'bread', 'apple', 'beer');
SELECT count(DISTINCT tid) FILTER (WHERE item IN ('apple', 'pear')) AS n FROM sales;
SELECT count(DISTINCT CASE WHEN item IN ('butter', 'cheese') THEN tid END) AS n FROM sales;
SELECT count(*) AS n FROM (SELECT tid, max(CASE WHEN item IN ('wine', 'cheese') THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid) WHERE x = 1;
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('saffron', 'truffle');

-- persons with all of several items
SELECT count(*) AS n FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread';
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'beer') AND bool_or(item = 'wine'));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'apple') GROUP BY tid HAVING count(DISTINCT item) = 3);
SELECT count(DISTINCT x.tid) AS n FROM sales x, sales y WHERE x.tid = y.tid AND x.item = 'aspirin' AND y.item = 'water';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM sales WHERE item = 'butter');
SELECT count(*) AS n FROM sales s WHERE s.item = 'bread' AND EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'cheese');
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y USING (tid) JOIN sales z USING (tid) WHERE x.item = 'milk' AND y.item = 'bread' AND z.item = 'beer';
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND (bool_or(item = 'beer') OR bool_or(item = 'wine')));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'butter', 'cheese') GROUP BY tid HAVING count(*) >= 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item IN ('apple', 'pear', 'figs')) = 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING sum(CASE WHEN item IN ('beer', 'wine', 'water') THEN 1 ELSE 0 END) >= 2);
SELECT count(*) AS n FROM (SELECT tid, bool_or(item = 'rolls') AS r, bool_or(item = 'bagel') AS b FROM sales GROUP BY tid) WHERE r AND b;

-- persons without items
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item IN ('milk', 'bread')));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item <> 'beer'));
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE s.item = 'milk' AND NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales EXCEPT SELECT tid FROM sales WHERE item = 'aspirin');
SELECT count(DISTINCT s.tid) AS n FROM sales s LEFT JOIN sales o ON o.tid = s.tid AND o.item = 'wine' WHERE s.item = 'cheese' AND o.tid IS NULL;
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(DISTINCT tid) FROM sales WHERE item IN ('beer', 'wine')) AS n;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND NOT bool_or(item = 'butter') AND NOT bool_or(item = 'cheese'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item IN ('apple', 'pear', 'figs')) = 0);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item IN ('milk', 'bread', 'butter', 'cheese')));
SELECT count(DISTINCT tid) AS n FROM sales ANTI JOIN (SELECT tid FROM sales WHERE item = 'water') w USING (tid);

-- groups by item
SELECT item, count(*) AS n FROM sales GROUP BY item;
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item ORDER BY item;
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'beer') GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE item LIKE 'b%' GROUP BY item;
SELECT s.item, count(s.tid) AS n FROM sales AS s GROUP BY ALL;
SELECT item, count(*) AS n FROM sales WHERE item NOT IN ('milk', 'bread') GROUP BY 1;
SELECT item, count(*) AS n, count(*) * 2 AS twice FROM sales GROUP BY item;
SELECT upper(item) AS i, count(*) AS n FROM sales GROUP BY 1;
SELECT DISTINCT item FROM sales;
SELECT item FROM sales GROUP BY item ORDER BY item DESC;
SELECT item = 'milk' AS milk, count(*) AS n FROM sales GROUP BY 1;

-- groups by item with a condition on persons
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item;
SELECT b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'bread' GROUP BY b.item;
SELECT b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'beer' AND b.item <> 'beer' GROUP BY b.item;
SELECT item, count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item;
SELECT s.item, count(*) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item IN ('wine', 'cheese')) GROUP BY s.item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 4) GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1) GROUP BY item;
SELECT item, count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'apple')) AS n FROM sales GROUP BY item;
WITH t AS (SELECT tid FROM sales WHERE item = 'aspirin') SELECT s.item, count(*) AS n FROM t JOIN sales s USING (tid) GROUP BY s.item;
SELECT b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item IN ('bread', 'rolls', 'bagel') GROUP BY b.item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread') GROUP BY item;

-- top lists
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 3;
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n, item LIMIT 3;
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item ORDER BY 2 DESC, 1 FETCH FIRST 5 ROWS ONLY;
SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY row_number() OVER (ORDER BY count(*) DESC, item) <= 4;
SELECT b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item <> 'milk' GROUP BY b.item ORDER BY n DESC, b.item LIMIT 3;
SELECT item, n FROM (SELECT item, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM sales GROUP BY item) WHERE r <= 3;
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'apple', 'beer', 'water') GROUP BY item ORDER BY n DESC, item LIMIT 2;
SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY 1, 2 ORDER BY n DESC, i, j LIMIT 3;
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 2 OFFSET 2;
SELECT max(n) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT min(n) AS m, avg(n) AS a FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT arg_max(item, n) AS is_best FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);

-- having on items
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= 30;
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) < 20;
SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) BETWEEN 20 AND 60;
SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n > 40;
SELECT count(*) AS k FROM (SELECT item FROM sales GROUP BY item HAVING count(*) >= 25);
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING item LIKE '%e%';
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) * 10 > (SELECT count(*) FROM sales WHERE item LIKE '%');
SELECT b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'bread' GROUP BY b.item HAVING count(*) >= 10;
SELECT sum(n) AS s FROM (SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= 30);
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > (SELECT count(*) FROM sales WHERE item = 'beer');
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item FROM c WHERE n >= (SELECT avg(n) FROM c);

-- pairs
SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item WHERE x.item IN ('beer', 'bread') GROUP BY 1, 2;
SELECT count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item;
SELECT x.item AS i, y.item AS j, count(DISTINCT x.tid) AS n FROM sales x, sales y WHERE x.tid = y.tid AND x.item < y.item AND x.item IN ('apple', 'bread') AND y.item IN ('milk', 'wine') GROUP BY x.item, y.item;
SELECT count(*) AS n FROM (SELECT x.item AS i, y.item AS j FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY 1, 2 HAVING count(*) >= 12);
SELECT coalesce(sum(n * (n - 1) / 2), 0) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid WHERE x.item = 'milk' AND y.item <> 'milk' GROUP BY 1, 2;
SELECT max(n) AS m FROM (SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY 1, 2);
SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y USING (tid) WHERE x.item < y.item GROUP BY 1, 2 HAVING count(*) >= 20;
SELECT i, sum(n) AS s FROM (SELECT x.item AS i, y.item AS j, count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item <> y.item GROUP BY 1, 2) WHERE i IN ('milk', 'figs') GROUP BY i;
SELECT count(*) AS n FROM sales o JOIN sales s USING (tid) WHERE s.item = 'milk';

-- sizes of baskets
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT max(n) AS m, min(n) AS l FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT sum(n) AS s, count(*) AS p FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n >= 4;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(item) = 2);
SELECT count(*) FILTER (WHERE n <= 2) AS small, count(*) FILTER (WHERE n > 2) AS large FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY tid);
SELECT avg(CASE WHEN n >= 3 THEN 1.0 ELSE 0.0 END) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 3 AND bool_or(item = 'beer'));
SELECT sum(n) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'wine'));
SELECT count(*) * 1.0 / count(DISTINCT tid) AS m FROM sales;
SELECT avg(n) AS m FROM (SELECT tid, count(DISTINCT item) AS n FROM sales GROUP BY tid) WHERE n > 1;

-- histograms
SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n;
WITH b AS (SELECT tid, count(DISTINCT item) AS size FROM sales GROUP BY tid) SELECT size, count(tid) AS c FROM b GROUP BY 1 ORDER BY 1;
SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('milk', 'butter', 'cheese', 'yogurt') GROUP BY tid) GROUP BY n;
SELECT least(n, 4) AS k, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY 1;
SELECT CASE WHEN n = 1 THEN 'one' WHEN n <= 3 THEN 'few' ELSE 'many' END AS k, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY 1;
SELECT n, count(*) AS c FROM (SELECT tid, count(*) FILTER (WHERE item IN ('apple', 'pear', 'figs')) AS n FROM sales GROUP BY tid) GROUP BY n;
SELECT n >= 3 AS large, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY 1;
SELECT n, c * 100.0 / sum(c) OVER () AS percent FROM (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n);
SELECT n, sum(c) OVER (ORDER BY n) AS cumulated FROM (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n);
SELECT n // 2 AS k, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY 1;

-- having on persons
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 2 AND 3);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 2 AND NOT bool_or(item = 'milk'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item IN ('milk', 'butter')) >= 1 AND count(*) <= 3);
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING count(*) >= 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('beer', 'wine', 'water') GROUP BY tid HAVING count(*) = 1);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') <> bool_or(item = 'bread'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING min(item) = 'apple');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING max(item) >= 'p');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item LIKE 'b%') > count(*) FILTER (WHERE item LIKE 'w%'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(DISTINCT item) = 1);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING avg(CASE WHEN item IN ('milk', 'bread') THEN 1 ELSE 0 END) >= 0.5);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT (bool_or(item = 'apple') AND bool_or(item = 'pear')));

-- like and text functions
SELECT count(*) AS n FROM sales WHERE item LIKE 'b%';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item LIKE '%e%';
SELECT count(*) AS n FROM sales WHERE item ILIKE 'M%';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item LIKE '%r';
SELECT count(*) AS n FROM sales WHERE starts_with(item, 'p');
SELECT count(*) AS n FROM sales WHERE left(item, 1) = 'w';
SELECT count(*) AS n FROM sales WHERE length(item) <= 4;
SELECT count(DISTINCT tid) AS n FROM sales WHERE item NOT LIKE '%a%';
SELECT count(*) AS n FROM sales WHERE regexp_matches(item, '^(b|c)');
SELECT count(DISTINCT tid) AS n FROM sales WHERE contains(item, 'ee');
SELECT left(item, 1) AS letter, count(*) AS n FROM sales GROUP BY 1;
SELECT length(item) AS k, count(DISTINCT tid) AS n FROM sales GROUP BY 1;
SELECT count(*) AS n FROM sales WHERE item BETWEEN 'b' AND 'd';
SELECT count(*) AS n FROM sales WHERE item LIKE '____';
SELECT count(*) AS n FROM sales WHERE lower(item) = 'milk' OR item GLOB 'f*';

-- case
SELECT CASE WHEN item IN ('milk', 'butter', 'cheese', 'yogurt') THEN 'dairy' ELSE 'other' END AS k, count(*) AS n FROM sales GROUP BY 1;
SELECT CASE WHEN item = 'milk' THEN 'milk' WHEN item LIKE 'b%' THEN 'b' ELSE 'rest' END AS k, count(DISTINCT tid) AS n FROM sales GROUP BY 1;
SELECT sum(CASE WHEN item = 'milk' THEN 2 WHEN item = 'bread' THEN 1 ELSE 0 END) AS s FROM sales;
SELECT avg(CASE WHEN item IN ('beer', 'wine') THEN 1 ELSE 0 END) AS s FROM sales;
SELECT CASE WHEN x AND y THEN 'both' WHEN x THEN 'first' WHEN y THEN 'second' ELSE 'none' END AS k, count(*) AS n FROM (SELECT tid, bool_or(item = 'milk') AS x, bool_or(item = 'bread') AS y FROM sales GROUP BY tid) GROUP BY 1;
SELECT CASE WHEN count(*) > 40 THEN 'many' ELSE 'few' END AS is_k FROM sales WHERE item = 'apple';
SELECT item, CASE WHEN count(*) > 40 THEN 'many' ELSE 'few' END AS is_k FROM sales WHERE item IN ('milk', 'figs', 'water') GROUP BY item;
SELECT sum(CASE WHEN n > 2 THEN n ELSE 0 END) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(DISTINCT CASE WHEN item LIKE 'b%' THEN tid END) AS b, count(DISTINCT CASE WHEN item LIKE 'w%' THEN tid END) AS w FROM sales;
SELECT if(item = 'aspirin', 'drug', 'food') AS k, count(*) AS n FROM sales GROUP BY 1;
SELECT sum(CASE WHEN item IN ('apple', 'pear') THEN 3 ELSE -1 END) AS s FROM sales WHERE item IN ('apple', 'pear', 'figs');

-- single values from subqueries
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') AS m, (SELECT count(*) FROM sales WHERE item = 'bread') AS b;
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') - (SELECT count(*) FROM sales WHERE item = 'bread') AS d;
SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') + (SELECT count(DISTINCT tid) FROM sales WHERE item = 'beer') - (SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'beer')) AS n;
SELECT greatest((SELECT count(*) FROM sales WHERE item = 'apple'), (SELECT count(*) FROM sales WHERE item = 'pear')) AS g;
SELECT (SELECT count(*) FROM sales WHERE item = 'wine') > (SELECT count(*) FROM sales WHERE item = 'beer') AS is_more;
SELECT (SELECT max(n) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) - (SELECT count(*) FROM sales WHERE item = 'figs') AS d;
SELECT item, count(*) - (SELECT count(*) FROM sales WHERE item = 'milk') AS d FROM sales WHERE item IN ('bread', 'beer') GROUP BY item;
SELECT v.i AS item, (SELECT count(*) FROM sales s WHERE s.item = v.i) AS n FROM (VALUES ('milk'), ('bread'), ('none')) v(i);
SELECT abs((SELECT count(*) FROM sales WHERE item = 'cheese') - (SELECT count(*) FROM sales WHERE item = 'butter')) AS d;
SELECT round(100.0 * (SELECT count(*) FROM sales WHERE item = 'rolls') / (SELECT count(DISTINCT tid) FROM sales), 1) AS percent;

-- exists and in
SELECT count(*) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'milk') AND s.item IN ('bread', 'rolls');
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND tid IN (SELECT tid FROM sales WHERE item = 'beer');
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') OR tid IN (SELECT tid FROM sales WHERE item = 'beer');
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item <> s.item AND o.item = 'milk');
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 3);
SELECT count(*) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'bread') AND item = 'butter';
SELECT EXISTS (SELECT 1 FROM sales WHERE item = 'saffron') AS is_there;
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM prices WHERE price > 3);
SELECT count(DISTINCT tid) AS n FROM sales WHERE item NOT IN (SELECT item FROM prices WHERE cheap);
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = p.tid AND s.item IN ('milk', 'water'));
SELECT EXISTS (SELECT 1 FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'truffle') AS is_there;
SELECT count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item IN ('beer', 'wine')) AND item NOT IN ('beer', 'wine');

-- set operations
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' UNION SELECT tid FROM sales WHERE item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' UNION ALL SELECT tid FROM sales WHERE item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'beer' EXCEPT SELECT tid FROM sales WHERE item = 'wine');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT (SELECT tid FROM sales WHERE item = 'apple' UNION SELECT tid FROM sales WHERE item = 'pear'));
SELECT 'milk' AS item, count(*) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'bread', count(*) FROM sales WHERE item = 'bread';
SELECT item FROM sales EXCEPT SELECT b.item FROM sales a JOIN sales b USING (tid) WHERE a.item = 'aspirin';
SELECT item FROM sales WHERE item LIKE 'b%' UNION SELECT item FROM sales WHERE item LIKE 'w%';
SELECT 'all' AS k, count(DISTINCT tid) AS n FROM sales UNION ALL SELECT 'milk', count(DISTINCT tid) FROM sales WHERE item = 'milk' ORDER BY k;
SELECT count(*) AS n FROM (SELECT tid FROM sales EXCEPT (SELECT tid FROM sales WHERE item = 'milk' UNION SELECT tid FROM sales WHERE item = 'bread'));
SELECT item, count(*) AS n FROM sales GROUP BY item UNION ALL SELECT 'total', count(*) FROM sales ORDER BY item;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'cheese' INTERSECT SELECT tid FROM sales WHERE item = 'wine' INTERSECT SELECT tid FROM sales WHERE item = 'bread');

-- ratios
SELECT count(DISTINCT tid) FILTER (WHERE item = 'milk') * 1.0 / count(DISTINCT tid) AS support FROM sales;
SELECT (SELECT count(*) FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread') / (SELECT count(*) FROM sales WHERE item = 'milk') AS confidence;
SELECT count(*) FILTER (WHERE x AND y) * 1.0 / nullif(count(*) FILTER (WHERE x), 0) AS c FROM (SELECT tid, bool_or(item = 'beer') AS x, bool_or(item = 'wine') AS y FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE x AND y) * count(*) * 1.0 / (count(*) FILTER (WHERE x) * count(*) FILTER (WHERE y)) AS lift FROM (SELECT tid, bool_or(item = 'milk') AS x, bool_or(item = 'bread') AS y FROM sales GROUP BY tid);
SELECT avg(x::INTEGER) AS s FROM (SELECT tid, bool_or(item = 'apple') AS x FROM sales GROUP BY tid);
SELECT item, count(*) * 1.0 / sum(count(*)) OVER () AS s FROM sales GROUP BY item;
SELECT item, count(*) * 100.0 / (SELECT count(DISTINCT tid) FROM sales) AS percent FROM sales GROUP BY item;
SELECT count(*) FILTER (WHERE item = 'milk') * 1.0 / count(*) FILTER (WHERE item = 'bread') AS r FROM sales;
SELECT b.item, count(*) * 1.0 / (SELECT count(*) FROM sales WHERE item = 'milk') AS confidence FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' GROUP BY b.item;
SELECT count(*) * 1.0 / nullif(count(DISTINCT tid), 0) AS m FROM sales WHERE item IN ('milk', 'butter', 'cheese');
SELECT 1 - count(DISTINCT tid) FILTER (WHERE item IN ('beer', 'wine')) * 1.0 / count(DISTINCT tid) AS dry FROM sales;
SELECT round(count(*) FILTER (WHERE item LIKE 'b%') * 100.0 / count(*), 2) AS percent FROM sales WHERE item LIKE '%';

-- windows
SELECT item, count(*) AS n, sum(count(*)) OVER () AS total FROM sales GROUP BY item;
SELECT item, count(*) AS n, max(count(*)) OVER () - count(*) AS behind FROM sales GROUP BY item;
SELECT item, n, avg(n) OVER () AS mean FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, sum(n) OVER (ORDER BY item) AS running FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('apple', 'beer', 'milk', 'wine') GROUP BY item);
SELECT item, n - lag(n) OVER (ORDER BY item) AS change FROM (SELECT item, count(*) AS n FROM sales WHERE item LIKE 'b%' GROUP BY item);
SELECT item, rank() OVER (ORDER BY count(*) DESC) AS r FROM sales GROUP BY item;
SELECT k, n, n * 1.0 / sum(n) OVER () AS share FROM (SELECT left(item, 1) AS k, count(*) AS n FROM sales GROUP BY 1);
SELECT parent, item, n, sum(n) OVER (PARTITION BY parent) AS of_parent FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN food ON item = node;
SELECT item, n, min(n) OVER (PARTITION BY left(item, 1)) AS least FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, count(*) OVER () AS kinds FROM (SELECT DISTINCT item FROM sales WHERE item LIKE 'b%');

-- averages of persons
SELECT avg(c) AS m FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('milk', 'butter', 'cheese', 'yogurt') GROUP BY tid);
SELECT avg(c) AS m FROM (SELECT tid, count(*) FILTER (WHERE item IN ('beer', 'wine', 'water')) AS c FROM sales GROUP BY tid);
SELECT avg(c) AS m FROM (SELECT tid, count(*) AS c FROM sales WHERE item = 'milk' GROUP BY tid);
SELECT avg(c) AS m FROM (SELECT tid, count(*) FILTER (WHERE item LIKE 'b%') AS c FROM sales GROUP BY tid) WHERE c > 0;
SELECT sum(c) * 1.0 / count(*) AS m FROM (SELECT tid, sum(CASE WHEN item IN ('apple', 'pear', 'figs') THEN 1 ELSE 0 END) AS c FROM sales GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'aspirin'));
SELECT x, avg(n) AS m FROM (SELECT tid, bool_or(item = 'milk') AS x, count(*) AS n FROM sales GROUP BY tid) GROUP BY x;
SELECT avg(a - b) AS m FROM (SELECT tid, count(*) FILTER (WHERE item LIKE 'b%') AS a, count(*) FILTER (WHERE item LIKE 'w%') AS b FROM sales GROUP BY tid);
SELECT avg(n) FILTER (WHERE n > 1) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT avg(n * n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT avg(n) AS m, max(n) AS x FROM (SELECT tid, count(*) AS n FROM sales WHERE item NOT IN ('milk') GROUP BY tid);

-- own categories
SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent;
SELECT parent, count(DISTINCT tid) AS n FROM sales JOIN food ON item = node GROUP BY parent;
SELECT count(DISTINCT tid) AS n FROM sales JOIN food ON item = node WHERE parent = 'dairy';
SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent IN ('fruit', 'drinks'));
SELECT g.parent, count(*) AS n FROM sales s JOIN food f ON s.item = f.node JOIN food g ON f.parent = g.node GROUP BY g.parent;
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON item = node GROUP BY tid HAVING count(DISTINCT parent) >= 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON item = node WHERE parent = 'drinks' GROUP BY tid HAVING count(*) >= 2);
SELECT count(*) AS n FROM (SELECT tid FROM sales LEFT JOIN food ON item = node GROUP BY tid HAVING bool_or(parent = 'fruit') AND bool_or(parent = 'drinks'));
SELECT parent, avg(c) AS m FROM (SELECT tid, parent, count(*) AS c FROM sales JOIN food ON item = node GROUP BY tid, parent) GROUP BY parent;
SELECT avg(k) AS m FROM (SELECT tid, count(DISTINCT parent) AS k FROM sales JOIN food ON item = node GROUP BY tid);
SELECT count(*) AS n FROM sales ANTI JOIN food ON item = node AND parent = 'dairy';
SELECT a.parent AS p, b.parent AS q, count(DISTINCT x.tid) AS n FROM sales x JOIN food a ON x.item = a.node JOIN sales y ON x.tid = y.tid JOIN food b ON y.item = b.node WHERE a.parent = 'dairy' AND b.parent IN ('bakery', 'drinks') GROUP BY 1, 2;
SELECT parent, count(DISTINCT tid) * 1.0 / (SELECT count(DISTINCT tid) FROM sales) AS share FROM sales JOIN food ON item = node GROUP BY parent;

-- prices
SELECT sum(price) AS v FROM sales JOIN prices USING (item);
SELECT avg(price) AS v FROM sales JOIN prices USING (item);
SELECT avg(v) AS m FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT item, count(*) * any_value(price) AS v FROM sales JOIN prices USING (item) GROUP BY item;
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 10);
SELECT cheap, count(*) AS n, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY cheap;
SELECT max(v) AS m FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT count(DISTINCT tid) AS n FROM sales JOIN prices USING (item) WHERE price >= 4;
SELECT parent, sum(price) AS v FROM sales JOIN prices USING (item) JOIN food ON item = node GROUP BY parent;
SELECT avg(p) AS m FROM (SELECT tid, max(price) AS p FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT sum(price) FILTER (WHERE item LIKE 'b%') AS v FROM sales JOIN prices USING (item);
SELECT p, count(*) AS n FROM (SELECT tid, max(price) AS p FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY p;
SELECT sum(price * 1.25) AS gross FROM sales JOIN prices USING (item) WHERE NOT cheap;

-- medians and deviations
SELECT median(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT quantile_cont(n, 0.9) AS q FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT quantile_disc(n, 0.25) AS q FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT stddev(n) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT var_pop(n) AS v FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT median(n) AS m FROM (SELECT tid, count(*) AS n FROM sales WHERE item LIKE 'b%' GROUP BY tid);
SELECT median(n) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT mode(n) AS is_mode FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT median(v) AS m FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT stddev_pop(n) AS s, avg(n) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);

-- derived tables
SELECT sum(n) AS s FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE item IN ('milk', 'bread');
WITH m AS (SELECT tid FROM sales WHERE item = 'milk'), b AS (SELECT tid FROM sales WHERE item = 'bread') SELECT count(*) AS n FROM m JOIN b USING (tid);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item AS i, b.item AS j, a.n - b.n AS d FROM c a, c b WHERE a.item = 'milk' AND b.item IN ('bread', 'beer');
SELECT count(*) AS n FROM (SELECT * FROM sales WHERE item = 'milk') AS t;
WITH f AS (SELECT tid, bool_or(item = 'milk') AS m, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) FILTER (WHERE m) AS with_milk, count(*) FILTER (WHERE n > 3) AS large FROM f;
SELECT sum(k * c) AS s FROM (SELECT k, count(*) AS c FROM (SELECT tid, count(*) AS k FROM sales WHERE item IN ('milk', 'bread', 'apple') GROUP BY tid) GROUP BY k);
SELECT t.item, t.n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) AS t WHERE t.item LIKE '%s';
WITH a AS (SELECT tid, item FROM sales WHERE item <> 'milk'), b AS (SELECT tid, count(*) AS n FROM a GROUP BY tid) SELECT count(*) AS n FROM b WHERE n >= 2;
SELECT item, n, p FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN (SELECT item, price AS p FROM prices) USING (item);
SELECT count(*) AS n FROM (SELECT DISTINCT tid, item FROM sales WHERE item IN ('beer', 'wine'));
SELECT sum(x) AS s FROM (SELECT tid, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'beer', 'figs') GROUP BY item);

-- totals and grouping sets
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') GROUP BY ROLLUP (item);
SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY ROLLUP (parent);
SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node WHERE parent IN ('dairy', 'bakery') GROUP BY GROUPING SETS ((parent), (parent, item), ());
SELECT cheap, parent, count(*) AS n FROM sales JOIN prices USING (item) JOIN food ON item = node GROUP BY CUBE (cheap, parent);
SELECT coalesce(item, 'all') AS i, count(DISTINCT tid) AS n FROM sales GROUP BY ROLLUP (item);
SELECT count(*) AS n, count(DISTINCT item) AS k, count(DISTINCT tid) AS p FROM sales;

-- joins of copies
SELECT count(DISTINCT m.tid) AS n FROM sales m LEFT JOIN sales b ON m.tid = b.tid AND b.item = 'bread' WHERE m.item = 'milk' AND b.tid IS NULL;
SELECT count(b.tid) * 1.0 / count(*) AS c FROM (SELECT tid FROM sales WHERE item = 'milk') m LEFT JOIN (SELECT tid FROM sales WHERE item = 'bread') b USING (tid);
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales WHERE item LIKE 'b%') x SEMI JOIN sales y ON x.tid = y.tid AND y.item = 'milk';
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item WHERE x.item IN ('apple', 'beer', 'bread') AND y.item IN ('milk', 'pear', 'wine');
SELECT count(*) AS n FROM sales x LEFT JOIN food f ON x.item = f.node;
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b JOIN sales s USING (tid) WHERE s.item = 'wine' AND b.n >= 3;
SELECT s.item, avg(b.n) AS m FROM sales s JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b USING (tid) WHERE s.item IN ('milk', 'figs', 'beer') GROUP BY s.item;
SELECT v.i AS item, count(s.tid) AS n FROM (VALUES ('milk'), ('figs'), ('nothing')) v(i) LEFT JOIN sales s ON s.item = v.i GROUP BY v.i;
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND y.item <> x.item WHERE x.item = 'water';
SELECT count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid WHERE x.item IN ('milk', 'bread') AND y.item IN ('beer', 'wine');

-- numbers of different items
SELECT count(DISTINCT item) AS k FROM sales;
SELECT count(DISTINCT item) AS k FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'aspirin');
SELECT count(DISTINCT parent) AS k FROM sales JOIN food ON item = node;
SELECT sum(k) AS s FROM (SELECT tid, count(DISTINCT item) AS k FROM sales GROUP BY tid);
SELECT count(*) AS k FROM (SELECT DISTINCT item FROM sales WHERE item LIKE 'b%');
SELECT left(item, 1) AS letter, count(DISTINCT item) AS k FROM sales GROUP BY 1;

-- conditions
SELECT count(*) > 50 AS is_many FROM sales WHERE item = 'milk';
SELECT bool_or(item = 'saffron') AS is_some FROM sales;
SELECT count(*) FILTER (WHERE item = 'milk') > count(*) FILTER (WHERE item = 'bread') AS is_more FROM sales;
SELECT item, count(*) BETWEEN 20 AND 60 AS is_middling FROM sales GROUP BY item;
SELECT count(DISTINCT tid) >= 100 AND count(*) >= 300 AS is_large FROM sales;
SELECT count(*) = 0 AS is_none FROM sales WHERE item = 'truffle';
SELECT avg(n) > 2.5 AS is_large FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);

-- counts of attributes [records]
SELECT count(*) AS n FROM customers;
SELECT count(*) AS n FROM customers WHERE age BETWEEN 30 AND 49;
SELECT count(*) AS n FROM customers WHERE age < 30;
SELECT count(*) AS n FROM customers WHERE sex = 'female';
SELECT count(*) AS n FROM customers WHERE town = 'Cork' AND sex = 'male';
SELECT count(*) AS n FROM customers WHERE town IN ('Cork', 'Delft') AND age > 40;
SELECT count(*) AS n FROM customers WHERE NOT (age < 30 OR town = 'Bergen');
SELECT count(*) AS n FROM customers WHERE since >= DATE '2026-04-01';
SELECT count(*) FILTER (WHERE sex = 'female') AS f, count(*) FILTER (WHERE sex = 'male') AS m FROM customers;
SELECT (SELECT count(*) FROM customers WHERE age >= 30) - (SELECT count(*) FROM customers WHERE age > 49) AS n;
SELECT count(*) AS n FROM customers WHERE age = 35;
SELECT count(*) AS n FROM customers WHERE town <> 'Cork';

-- groups by attributes [records]
SELECT sex, count(*) AS n FROM customers GROUP BY sex;
SELECT town, count(*) AS n FROM customers GROUP BY town ORDER BY town;
SELECT town, sex, count(*) AS n FROM customers GROUP BY town, sex;
SELECT age // 10 * 10 AS band, count(*) AS n FROM customers GROUP BY 1;
SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS k, count(*) AS n FROM customers GROUP BY 1;
SELECT town, count(*) AS n FROM customers WHERE age >= 40 GROUP BY town;
SELECT sex, count(*) * 100.0 / sum(count(*)) OVER () AS percent FROM customers GROUP BY sex;
SELECT town, count(*) AS n FROM customers GROUP BY town HAVING count(*) >= 60;
SELECT town, count(*) AS n FROM customers GROUP BY town ORDER BY n DESC, town LIMIT 2;
SELECT town = 'Cork' AS cork, age >= 50 AS old, count(*) AS n FROM customers GROUP BY 1, 2;
SELECT town, count(*) AS n FROM customers GROUP BY ROLLUP (town);

-- dates [records]
SELECT month(since) AS m, count(*) AS n FROM customers GROUP BY 1;
SELECT count(*) AS n FROM customers WHERE since >= DATE '2026-04-01' AND since < DATE '2026-05-01';
SELECT count(*) AS n FROM customers WHERE month(since) = 3;
SELECT date_trunc('month', since) AS m, count(*) AS n FROM customers GROUP BY 1;
SELECT min(since) AS first, max(since) AS last FROM customers;
SELECT extract(month FROM since) AS m, sex, count(*) AS n FROM customers GROUP BY 1, 2;
SELECT count(*) AS n FROM customers WHERE since BETWEEN DATE '2026-03-10' AND DATE '2026-03-20';
SELECT strftime(since, '%Y-%m') AS m, count(*) AS n FROM customers GROUP BY 1;
SELECT dayname(since) AS d, count(*) AS n FROM customers GROUP BY 1;
SELECT month(since) AS m, avg(age) AS a FROM customers GROUP BY 1;

-- averages of attributes [records]
SELECT avg(age) AS m FROM customers;
SELECT avg(age) AS m FROM customers WHERE age BETWEEN 28 AND 43;
SELECT sex, avg(age) AS m FROM customers GROUP BY sex;
SELECT min(age) AS l, max(age) AS g FROM customers;
SELECT sum(age) AS s FROM customers WHERE town = 'Cork';
SELECT avg(age) AS m FROM customers JOIN sales USING (tid) WHERE item = 'milk';
SELECT avg(age) AS m FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'beer');
SELECT median(age) AS m FROM customers;
SELECT stddev_pop(age) AS s FROM customers;
SELECT town, avg(age) AS m FROM customers WHERE sex = 'female' GROUP BY town;
SELECT avg(CASE WHEN age >= 60 THEN 1.0 ELSE 0.0 END) AS old FROM customers;
SELECT item, avg(age) AS m FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'wine') GROUP BY item;

-- items and attributes [records]
SELECT count(*) AS n FROM customers c JOIN sales s USING (tid) WHERE s.item = 'milk' AND c.sex = 'female';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'beer' AND tid IN (SELECT tid FROM customers WHERE age < 40);
SELECT count(*) AS n FROM customers WHERE age > 40 AND tid IN (SELECT tid FROM sales WHERE item IN ('aspirin', 'plasters'));
SELECT count(*) AS n FROM customers c WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'milk') AND town = 'Cork';
SELECT count(*) AS n FROM (SELECT tid FROM customers WHERE sex = 'female' INTERSECT SELECT tid FROM sales WHERE item = 'wine');
SELECT count(*) AS n FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'bread') AND age BETWEEN 20 AND 50;
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y USING (tid) JOIN customers c USING (tid) WHERE x.item = 'milk' AND y.item = 'bread' AND c.sex = 'male';
SELECT count(*) AS n FROM customers WHERE tid NOT IN (SELECT tid FROM sales WHERE item IN ('beer', 'wine')) AND age >= 30;
SELECT count(*) AS n FROM customers WHERE town = 'Delft' OR tid IN (SELECT tid FROM sales WHERE item = 'apple');
SELECT count(*) AS n FROM sales s JOIN customers c USING (tid) WHERE c.town = 'Bergen' AND s.item LIKE 'b%';
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 3) b JOIN customers USING (tid) WHERE sex = 'female';

-- items by attributes [records]
SELECT sex, count(*) AS n FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY sex;
SELECT c.town, count(*) AS n FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'beer' GROUP BY c.town;
SELECT s.item, count(*) AS n FROM sales s JOIN customers c USING (tid) WHERE c.town = 'Cork' GROUP BY s.item;
SELECT sex, item, count(*) AS n FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'wine') GROUP BY sex, item;
SELECT item, count(*) FILTER (WHERE sex = 'female') AS f, count(*) FILTER (WHERE sex = 'male') AS m FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'bread', 'beer') GROUP BY item;
SELECT town, count(DISTINCT tid) FILTER (WHERE item = 'milk') * 1.0 / count(DISTINCT tid) AS share FROM sales JOIN customers USING (tid) GROUP BY town;
SELECT sex, avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY sex;
SELECT town, count(*) AS n FROM sales JOIN customers USING (tid) GROUP BY town;
SELECT age // 20 AS band, count(*) AS n FROM sales JOIN customers USING (tid) WHERE item IN ('aspirin', 'plasters') GROUP BY 1;
SELECT item, count(*) AS n FROM sales JOIN customers USING (tid) WHERE age >= 50 GROUP BY item ORDER BY n DESC, item LIMIT 3;
SELECT sex, parent, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) JOIN food ON item = node WHERE parent IN ('dairy', 'drinks') GROUP BY sex, parent;
SELECT sex, sum(price) AS v FROM sales JOIN customers USING (tid) JOIN prices USING (item) GROUP BY sex;

-- windows over attributes [records]
SELECT town, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM customers GROUP BY town;
SELECT m, n, sum(n) OVER (ORDER BY m) AS running FROM (SELECT month(since) AS m, count(*) AS n FROM customers GROUP BY 1);
SELECT sex, town, count(*) * 1.0 / sum(count(*)) OVER (PARTITION BY sex) AS share FROM customers GROUP BY sex, town;
SELECT town, n, n - avg(n) OVER () AS above FROM (SELECT town, count(*) AS n FROM customers GROUP BY town);
SELECT band, n, n - lag(n) OVER (ORDER BY band) AS change FROM (SELECT age // 20 AS band, count(*) AS n FROM customers GROUP BY 1);

-- persons by lists [lists]
SELECT count(*) AS n FROM sales WHERE list_contains(items, 'milk');
SELECT count(*) AS n FROM sales WHERE list_has_any(items, ['milk', 'bread']);
SELECT count(*) AS n FROM sales WHERE list_has_all(items, ['milk', 'bread']);
SELECT count(*) AS n FROM sales WHERE list_contains(items, 'beer') AND NOT list_contains(items, 'wine');
SELECT count(*) AS n FROM sales WHERE 'apple' = ANY(items) OR 'pear' = ANY(items);
SELECT count(*) AS n FROM sales WHERE NOT list_has_any(items, ['beer', 'wine', 'water']);
SELECT count(*) AS n FROM sales;
SELECT count(DISTINCT tid) AS n FROM sales;
SELECT count(*) FILTER (WHERE list_contains(items, 'milk')) * 1.0 / count(*) AS share FROM sales;
SELECT count(*) AS n FROM sales WHERE items @> ['cheese', 'wine'];
SELECT sum(CASE WHEN list_contains(items, 'aspirin') THEN 1 ELSE 0 END) AS n FROM sales;
SELECT count(*) AS n FROM sales WHERE items <@ ['milk', 'bread', 'butter', 'cheese'];

-- unnested lists [lists]
SELECT item, count(*) AS n FROM (SELECT tid, unnest(items) AS item FROM sales) GROUP BY item;
SELECT count(*) AS n FROM (SELECT unnest(items) AS item FROM sales) WHERE item = 'milk';
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, unnest(items) AS item FROM sales) WHERE item IN ('beer', 'wine');
WITH s AS (SELECT tid, unnest(items) AS item FROM sales) SELECT item, count(*) AS n FROM s GROUP BY item ORDER BY n DESC, item LIMIT 3;
WITH s AS (SELECT tid, unnest(items) AS item FROM sales) SELECT count(*) AS n FROM s x JOIN s y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread';
SELECT u.item, count(*) AS n FROM sales, unnest(items) AS u(item) GROUP BY u.item;
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM (SELECT tid, unnest(items) AS item FROM sales) GROUP BY tid);

-- sizes of lists [lists]
SELECT avg(len(items)) AS m FROM sales;
SELECT count(*) AS n FROM sales WHERE len(items) >= 4;
SELECT len(items) AS n, count(*) AS c FROM sales GROUP BY 1;
SELECT sum(len(items)) AS s, max(len(items)) AS m FROM sales;
SELECT count(*) AS n FROM sales WHERE len(items) > 2 AND list_contains(items, 'milk');
SELECT list_contains(items, 'milk') AS x, count(*) AS n FROM sales GROUP BY 1;

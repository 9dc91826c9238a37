-- Sixty questions of a basket analyst. Tables: sales(tid, item); customers(tid, age, town, day), the records; food(node, parent), the
-- taxonomy; prices(item, price), the analyst's own.
-- 01 number of baskets
SELECT count(DISTINCT tid) FROM sales
-- 02 number of line items
SELECT count(*) FROM sales
-- 03 number of products
SELECT count(DISTINCT item) FROM sales
-- 04 top 10 products
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 10
-- 05 five rarest products
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n LIMIT 5
-- 06 baskets with milk
SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'
-- 07 baskets with milk or bread
SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread')
-- 08 average basket size
SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 09 share of baskets with milk
SELECT count(DISTINCT tid) FILTER (WHERE item = 'milk') * 100.0 / count(DISTINCT tid) AS pct FROM sales
-- 10 largest basket
SELECT max(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 11 baskets of each size
SELECT n, count(*) AS baskets FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n ORDER BY n
-- 12 all pairs, top 20
SELECT a.item, b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item GROUP BY a.item, b.item ORDER BY n DESC LIMIT 20
-- 13 what is bought with milk
SELECT b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item = 'milk' AND b.item <> 'milk' GROUP BY b.item ORDER BY n DESC LIMIT 10
-- 14 confidence milk -> bread
WITH m AS (SELECT DISTINCT tid FROM sales WHERE item = 'milk'), b AS (SELECT DISTINCT tid FROM sales WHERE item = 'bread') SELECT count(b.tid) * 1.0 / count(*) FROM m LEFT JOIN b USING (tid)
-- 15 lift of milk and bread
WITH c AS (SELECT count(*) AS n, count(*) FILTER (WHERE m) AS m, count(*) FILTER (WHERE b) AS b, count(*) FILTER (WHERE m AND b) AS mb FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid)) SELECT mb * 1.0 * n / (m * b) AS lift FROM c
-- 16 milk but no bread
SELECT count(DISTINCT tid) FROM sales s WHERE item = 'milk' AND NOT EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = 'bread')
-- 17 baskets without milk
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item = 'milk'))
-- 18 all of a list
SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(DISTINCT item) = 2) q
-- 19 at least two of a list
SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'butter') GROUP BY tid HAVING count(*) >= 2)
-- 20 large baskets
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 5)
-- 21 baskets with a single item
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1)
-- 22 name search
SELECT count(DISTINCT tid) FROM sales WHERE item ILIKE '%food%'
-- 23 products by first letter
SELECT left(item, 1) AS letter, count(*) AS n FROM sales GROUP BY letter ORDER BY letter
-- 24 baskets by category
SELECT parent, count(DISTINCT tid) FROM sales JOIN food ON item = node GROUP BY parent ORDER BY 2 DESC
-- 25 lines by category
SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent ORDER BY n DESC
-- 26 average basket value
SELECT avg(v) FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid)
-- 27 revenue
SELECT sum(price) AS revenue FROM sales JOIN prices USING (item)
-- 28 baskets above 20 euros
SELECT count(*) FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 20)
-- 29 revenue by product
SELECT item, sum(price) AS revenue FROM sales JOIN prices USING (item) GROUP BY item ORDER BY revenue DESC LIMIT 5
-- 30 two counts side by side
SELECT count(*) FILTER (WHERE item = 'milk') AS milk, count(*) FILTER (WHERE item = 'bread') AS bread FROM sales
-- 31 revenue by category
SELECT parent, sum(price) AS revenue FROM sales JOIN prices USING (item) JOIN food ON node = sales.item GROUP BY parent
-- 32 boolean mix
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND bool_or(item IN ('bread', 'rolls')) AND NOT bool_or(item = 'butter'))
-- 33 rank of products
SELECT item, rank() OVER (ORDER BY count(*) DESC) AS place, count(*) AS n FROM sales GROUP BY item QUALIFY place <= 5
-- 34 share of each product of all lines
SELECT item, count(*) * 100.0 / sum(count(*)) OVER () AS pct FROM sales GROUP BY item ORDER BY pct DESC
-- 35 products above 2 percent of all lines
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 0.02 * (SELECT count(*) FROM sales)
-- 36 how many products sell in at least 100 baskets
SELECT count(*) FROM (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) >= 100)
-- 37 products by category
SELECT parent, count(*) AS products FROM (SELECT DISTINCT item FROM sales) JOIN food ON item = node GROUP BY parent
-- 38 list of products
SELECT DISTINCT item FROM sales ORDER BY item
-- 39 crosstab of milk and bread
SELECT m, b, count(*) AS n FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid) GROUP BY m, b
-- 40 baskets as lists
SELECT count(*) FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_contains(items, 'milk') AND list_contains(items, 'bread')
-- 41 spelling in any case
SELECT count(DISTINCT tid) FROM sales WHERE lower(item) = lower('MILK')
-- 42 own grouping by CASE
SELECT CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 'dairy' ELSE 'other' END AS grp, count(DISTINCT tid) FROM sales GROUP BY grp
-- 43 dairy or not, by lines
SELECT sum(CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 1 ELSE 0 END) AS dairy, sum(CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 0 ELSE 1 END) AS other FROM sales
-- 44 average size of baskets with milk
SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'))
-- 45 milk and bread side by side
SELECT 'milk' AS what, count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'bread', count(DISTINCT tid) FROM sales WHERE item = 'bread'
-- 46 only pain killers in the basket
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item IN ('aspirin', 'ibuprofen', 'migraine tablets')))
-- 47 customers by decade of age
SELECT age // 10 * 10 AS decade, count(*) AS n FROM customers GROUP BY decade ORDER BY decade
-- 48 customers by town
SELECT town, count(*) FROM customers GROUP BY town
-- 49 average age by town
SELECT town, avg(age) AS mean FROM customers GROUP BY town
-- 50 average age of buyers of nappies
SELECT avg(age) FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'nappies')
-- 51 milk by town
SELECT town, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) WHERE item = 'milk' GROUP BY town
-- 52 customers aged 20 to 29 who buy coffee
SELECT count(DISTINCT c.tid) FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'coffee' AND c.age BETWEEN 20 AND 29
-- 53 products of the young
SELECT item, count(*) AS n FROM sales JOIN customers USING (tid) WHERE age < 30 GROUP BY item ORDER BY n DESC LIMIT 5
-- 54 customers without purchases
SELECT count(*) FROM customers c LEFT JOIN sales s ON s.tid = c.tid WHERE s.tid IS NULL
-- 55 baskets by month
SELECT date_trunc('month', day) AS month, count(*) AS n FROM customers GROUP BY month ORDER BY month
-- 56 milk by weekday
SELECT dayname(day) AS d, count(DISTINCT tid) FROM sales JOIN customers USING (tid) WHERE item = 'milk' GROUP BY d
-- 57 customers over 60 without milk
SELECT count(*) FROM customers c WHERE age > 60 AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'milk')
-- 58 average basket size by town
SELECT town, avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY town
-- 59 average size by decade of age
SELECT age // 10 * 10 AS decade, avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY decade
-- 60 is there any basket with saffron and figs
SELECT count(*) > 0 FROM sales a JOIN sales b USING (tid) WHERE a.item = 'saffron' AND b.item = 'figs'

-- SQL in the form in which tools write it, each statement with the tool and the action behind it.

-- Metabase: sync of tables
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'main';
-- Metabase: sync of columns
SELECT column_name, data_type, is_nullable, ordinal_position FROM information_schema.columns WHERE table_name = 'sales' ORDER BY ordinal_position;
-- Metabase: fingerprint of a column
SELECT SUBSTRING("main"."sales"."item", 1, 1234) AS "substring1" FROM "main"."sales" LIMIT 10000;
-- Metabase: field values of a filter
SELECT "main"."sales"."item" AS "item" FROM "main"."sales" GROUP BY "main"."sales"."item" ORDER BY "main"."sales"."item" ASC LIMIT 1000;
-- Metabase: summarize by item, most frequent first
SELECT "main"."sales"."item" AS "item", COUNT(*) AS "count" FROM "main"."sales" GROUP BY "main"."sales"."item" ORDER BY "count" DESC, "main"."sales"."item" ASC LIMIT 10;
-- Metabase: distinct persons with a filter
SELECT COUNT(DISTINCT "main"."sales"."tid") AS "count" FROM "main"."sales" WHERE ("main"."sales"."item" = 'milk') OR ("main"."sales"."item" = 'bread');
-- Metabase: a question on a question
SELECT "source"."item" AS "item", "source"."count" AS "count" FROM (SELECT "main"."sales"."item" AS "item", COUNT(*) AS "count" FROM "main"."sales" GROUP BY "main"."sales"."item" ORDER BY "main"."sales"."item" ASC) AS "source" WHERE "source"."count" > 3 LIMIT 1048575;
-- Metabase: preview of a table
SELECT "main"."sales"."tid" AS "tid", "main"."sales"."item" AS "item" FROM "main"."sales" LIMIT 2000;
-- Superset: a chart of counts
SELECT item AS item, COUNT(*) AS count FROM main.sales GROUP BY item ORDER BY count DESC LIMIT 1000;
-- Superset: a metric of persons, with a time range that is none
SELECT item AS item, COUNT(DISTINCT tid) AS "COUNT_DISTINCT(tid)" FROM main.sales WHERE item IN ('milk', 'bread') GROUP BY item ORDER BY "COUNT_DISTINCT(tid)" DESC LIMIT 50000;
-- Superset: a virtual dataset
SELECT size AS size, COUNT(*) AS count FROM (SELECT tid, count(*) AS size FROM sales GROUP BY tid) AS virtual_table GROUP BY size ORDER BY count DESC LIMIT 10000;
-- Superset: samples of a dataset
SELECT tid AS tid, item AS item FROM main.sales LIMIT 1000 OFFSET 0;
-- Superset: the number of rows of a chart
SELECT COUNT(*) AS rowcount FROM (SELECT item AS item, COUNT(*) AS count FROM main.sales GROUP BY item LIMIT 1000) AS rowcount_qry;
-- Tableau: probe of a live connection
SELECT * FROM "main"."sales" LIMIT 0;
-- Tableau: a bar chart
SELECT "sales"."item" AS "item", SUM(1) AS "sum:Number of Records:ok" FROM "main"."sales" "sales" GROUP BY 1;
-- Tableau: a count of persons
SELECT COUNT(DISTINCT "sales"."tid") AS "ctd:tid:ok" FROM "main"."sales" "sales" HAVING (COUNT(1) > 0);
-- Tableau: custom SQL
SELECT "Custom SQL Query"."item" AS "item", COUNT(1) AS "cnt:item:ok" FROM (SELECT * FROM sales WHERE item LIKE 'b%') "Custom SQL Query" GROUP BY 1;
-- Tableau: a quick filter
SELECT "sales"."item" AS "item" FROM "main"."sales" "sales" GROUP BY 1 ORDER BY "item" ASC;
-- Power BI: schema by DirectQuery
select * from "main"."sales" where 1 = 0;
-- Power BI: a visual
select "_"."item", "_"."a0" from (select "rows"."item" as "item", count(1) as "a0" from "main"."sales" as "rows" group by "item") as "_" where not "_"."a0" is null limit 1000001;
-- Power BI: a card
select count(distinct "rows"."tid") + max(case when "rows"."tid" is null then 1 else 0 end) as "a0" from "main"."sales" as "rows";
-- DBeaver: tables of a schema
SELECT table_catalog, table_schema, table_name FROM information_schema.tables WHERE table_schema = 'main' AND table_type LIKE '%TABLE';
-- DBeaver: data of a table
SELECT x.* FROM main.sales x LIMIT 200;
-- DBeaver: count of rows
SELECT COUNT(*) FROM ( SELECT x.* FROM main.sales x ) dbvrcnt;
-- DBeaver: a filter on the grid
SELECT x.* FROM main.sales x WHERE item = 'milk' ORDER BY item LIMIT 200;
-- DBeaver: grouping panel
SELECT item, COUNT(*) AS total FROM ( SELECT x.* FROM main.sales x ) dbvrcnt GROUP BY item ORDER BY total DESC LIMIT 200;
-- psql and JDBC: what is this
SELECT version();
-- JDBC of DuckDB: metadata
SELECT database_name, schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE table_name LIKE 'sales' ORDER BY column_index;
-- JDBC: is the connection alive
SELECT 1;
-- pandas: read_sql_table by SQLAlchemy
SELECT sales.tid, sales.item FROM sales;
-- ibis: schema of a table
DESCRIBE SELECT * FROM sales;
-- ibis: value counts
SELECT "t0"."item", COUNT(*) AS "item_count" FROM "sales" AS "t0" GROUP BY 1;
-- ibis: the first of an ordered aggregate
SELECT * FROM (SELECT "t0"."item", COUNT(*) AS "n" FROM "sales" AS "t0" GROUP BY 1) AS "t1" ORDER BY "t1"."n" DESC LIMIT 5;
-- ibis: head
SELECT * FROM "sales" AS "t0" LIMIT 5;
-- dbt: a test of uniqueness
select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error from (select item as unique_field, count(*) as n_records from (select distinct item from sales) s where item is not null group by item having count(*) > 1) dbt_internal_test;
-- dbt: a test for NULL
select count(*) as failures from (select item from sales where item is null) dbt_internal_test;
-- dbt: relations of a schema
select 'memory' as database, table_name as name, table_schema as schema, case table_type when 'BASE TABLE' then 'table' else 'view' end as type from information_schema.tables where lower(table_schema) = lower('main');
-- dbt: an empty model for its columns
select * from (select item, count(*) as n from sales group by item) as __dbt_sbq where false limit 0;
-- Evidence and Rill: a profile of a column
SELECT item AS value, count(*) AS count FROM sales GROUP BY item ORDER BY count DESC, value LIMIT 50;
-- Rill: the number of distinct values
SELECT approx_count_distinct(item) AS count FROM sales;
-- Jupyter with JupySQL: a snippet as a common table expression
WITH "milk" AS (SELECT DISTINCT tid FROM sales WHERE item = 'milk') SELECT s.item, count(*) AS n FROM sales s JOIN milk USING (tid) GROUP BY s.item ORDER BY n DESC LIMIT 10;
-- Jupyter with JupySQL: a histogram
SELECT n AS bin, count(*) AS count FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n ORDER BY n;
-- Grafana: a macro without time
SELECT item AS metric, count(*) AS value FROM sales GROUP BY 1 ORDER BY 2 DESC LIMIT 20;
-- Looker: a query of an explore
SELECT sales."item" AS "sales.item", COUNT(*) AS "sales.count" FROM main.sales AS sales GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY;

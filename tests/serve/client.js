// A query in the three ways of Node's pg, an error, and two statements at once.
const { Client } = require("pg");

(async () => {
  const client = new Client({ host: "127.0.0.1", port: Number(process.argv[2]), user: "analyst", database: "shop" });
  await client.connect();
  const text = "SELECT count(DISTINCT tid) AS n FROM sales WHERE item";
  const asked = [
    [`${text} IN ('milk', 'bread')`],
    [`${text} IN ($1,$2)`, ["milk", "bread"]],
    [{ name: "prepared", text: `${text} = ANY($1)`, values: [["milk", "bread"]] }],
  ];
  for (const query of asked) {
    const { n, n_lower, n_upper } = (await client.query(...query)).rows[0];
    console.log(n, n_lower, n_upper);
  }
  await client.query("SELECT * FROM nothing").catch((error) => console.log(error.code));
  const both = await client.query("SELECT 1 AS a; SELECT 2 AS a");
  console.log(...both.map((result) => result.rows[0].a));
  await client.end();
})();

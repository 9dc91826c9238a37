import java.sql.*;

/** What DBeaver and Metabase ask of a connection, and statements that the driver prepares and reads in binary. */
public class Client {
    public static void main(String[] words) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + words[0] + "/shop?connectTimeout=60&sslResponseTimeout=60000";
        try (Connection connection = DriverManager.getConnection(url, "analyst", words[1])) {
            DatabaseMetaData data = connection.getMetaData();
            count("catalogs", data.getCatalogs());
            count("keys", data.getPrimaryKeys(null, "main", "sales"));
            count("imported", data.getImportedKeys(null, "main", "sales"));
            count("indexes", data.getIndexInfo(null, "main", "sales", false, true));
            count("types", data.getTypeInfo());
            for (ResultSet r = data.getTables(null, "main", "%", new String[] {"TABLE", "VIEW"}); r.next(); )
                System.out.println("table " + r.getString("TABLE_NAME") + " " + r.getString("TABLE_TYPE"));
            for (ResultSet r = data.getColumns(null, "main", "sales", "%"); r.next(); )
                System.out.println("column " + r.getString("COLUMN_NAME") + " " + r.getString("TYPE_NAME"));
            System.out.println("valid " + connection.isValid(60));
            String sql = "SELECT 1.50 AS a, DATE '2020-01-02' AS b, TIMESTAMP '2020-01-02 03:04:05' AS c, true AS d,"
                + " 2.5::DOUBLE AS e, 5000000000 AS f, count(*) AS n FROM sales WHERE item IN (?,?)";
            PreparedStatement prepared = connection.prepareStatement(sql);
            for (int n = 0; n < 8; n++) {
                prepared.setString(1, "milk");
                prepared.setString(2, "bread");
                ResultSet r = prepared.executeQuery();
                r.next();
                System.out.println("row " + r.getBigDecimal(1) + " " + r.getDate(2) + " " + r.getTimestamp(3) + " "
                    + r.getBoolean(4) + " " + r.getDouble(5) + " " + r.getLong(6) + " " + r.getObject("n"));
            }
            connection.setAutoCommit(false);
            Statement statement = connection.createStatement();
            statement.setFetchSize(100);
            ResultSet rows = statement.executeQuery("SELECT * FROM range(1000)");
            int number = 0;
            while (rows.next()) number++;
            System.out.println("fetched " + number);
            connection.rollback();
            connection.setAutoCommit(true);
            failed("failed", statement, "SELECT * FROM nothing");
            statement.setQueryTimeout(1);
            failed("cancelled", statement, "SELECT count(*) FROM range(100000) a, range(100000) b, range(100) c"
                + " WHERE a.range + b.range + c.range = 7");
        }
    }

    static void count(String what, ResultSet rows) throws SQLException {
        int number = 0;
        while (rows.next()) number++;
        System.out.println(what + " " + number);
    }

    static void failed(String what, Statement statement, String sql) {
        try {
            statement.executeQuery(sql);
        } catch (SQLException error) {
            System.out.println(what + " " + error.getSQLState());
        }
    }
}

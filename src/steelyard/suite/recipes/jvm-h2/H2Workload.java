import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A bank in memory: its accounts are made anew in each iteration, then the first SCALE transfers of
 * the input are booked, ten in a transaction, and reports are drawn up.
 */
public final class H2Workload implements Workload {
    private static final int ACCOUNTS = 500;
    private static final int BRANCHES = 20;
    private static final int FIRST_BALANCE = 1000;
    private static final int TRANSFERS_A_TRANSACTION = 10;

    private final List<int[]> transfers = new ArrayList<>();
    private Connection connection;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        for (String line : Files.readAllLines(input).subList(0, scale)) {
            String[] fields = line.split(",");
            transfers.add(
                    new int[] {
                        Integer.parseInt(fields[0]),
                        Integer.parseInt(fields[1]),
                        Integer.parseInt(fields[2])
                    });
        }
        connection = DriverManager.getConnection("jdbc:h2:mem:bank");
        connection.setAutoCommit(false);
    }

    @Override
    public void iterate(Checksum checksum) throws SQLException {
        makeTables();
        book(checksum);
        connection.commit();
        report(
                checksum,
                "select count(*), sum(source * amount), sum(target * amount) from transfer");
        report(
                checksum,
                "select branch, count(*), sum(balance), max(balance) from account"
                        + " group by branch order by branch");
        report(
                checksum,
                "select a.branch, b.branch, sum(t.amount) from transfer t"
                        + " join account a on a.id = t.source join account b on b.id = t.target"
                        + " group by a.branch, b.branch having sum(t.amount) > 100"
                        + " order by 3 desc, 1, 2 limit 50");
        report(
                checksum,
                "select id, balance from account a where balance >"
                        + " (select avg(balance) from account b where b.branch = a.branch)"
                        + " order by balance desc, id limit 40");
    }

    private void makeTables() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists transfer, account");
            statement.execute(
                    "create table account(id int primary key, branch int, balance bigint)");
            statement.execute(
                    "create table transfer(id int primary key, source int, target int, amount int)");
            statement.execute("create index by_branch on account(branch)");
        }
        try (PreparedStatement insert =
                connection.prepareStatement("insert into account values (?, ?, ?)")) {
            for (int id = 0; id < ACCOUNTS; id++) {
                insert.setInt(1, id);
                insert.setInt(2, id % BRANCHES);
                insert.setLong(3, FIRST_BALANCE);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    /** Books all transfers that are covered, and adds the others to the checksum. */
    private void book(Checksum checksum) throws SQLException {
        try (PreparedStatement take =
                        connection.prepareStatement(
                                "update account set balance = balance - ?"
                                        + " where id = ? and balance >= ?");
                PreparedStatement give =
                        connection.prepareStatement(
                                "update account set balance = balance + ? where id = ?");
                PreparedStatement log =
                        connection.prepareStatement("insert into transfer values (?, ?, ?, ?)")) {
            for (int i = 0; i < transfers.size(); i++) {
                int[] transfer = transfers.get(i);
                if (update(take, transfer[2], transfer[0], transfer[2]) == 0) {
                    for (int field : transfer) {
                        checksum.add(field);
                    }
                } else {
                    update(give, transfer[2], transfer[1]);
                    update(log, i, transfer[0], transfer[1], transfer[2]);
                }
                if (i % TRANSFERS_A_TRANSACTION == TRANSFERS_A_TRANSACTION - 1) {
                    connection.commit();
                }
            }
        }
    }

    private static int update(PreparedStatement statement, int... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setInt(i + 1, values[i]);
        }
        return statement.executeUpdate();
    }

    private void report(Checksum checksum, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                for (int column = 1; column <= columns; column++) {
                    checksum.add(rows.getLong(column));
                }
            }
        }
    }
}

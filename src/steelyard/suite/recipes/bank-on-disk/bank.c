/* A bank in a database on the disk: every transaction is synced.
 *
 *     bank INPUT ITERATIONS
 *
 * The input has a transfer a line, as source,target,amount. An iteration makes the database anew,
 * books all transfers, ten in a transaction, and draws up a report. Works in a new directory below
 * the working directory and removes it at the end. Standard output has the checksum of the report,
 * and what an iteration wrote and synced; it is the same for any number of iterations. SQLite lets
 * its calls for writing be replaced, and is compiled so that it syncs by counted_fsync.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "sqlite3.h"
#include "steelyard.h"

enum { ACCOUNTS = 500, BRANCHES = 20, FIRST_BALANCE = 1000, TRANSFERS_A_TRANSACTION = 10 };

struct transfer {
    int source, target, amount;
};

struct transfers {
    struct transfer* items;
    size_t count;
};

static unsigned long long bytes_written;
static unsigned long fsyncs;

int counted_fsync(int descriptor);

static ssize_t counted_pwrite(int descriptor, const void* data, size_t size, off_t place) {
    const ssize_t written = pwrite(descriptor, data, size, place);
    if (written > 0)
        bytes_written += (unsigned long long)written;
    return written;
}

int counted_fsync(int descriptor) {
    ++fsyncs;
    return fsync(descriptor);
}

static void count_writes(void) {
    sqlite3_vfs* system = sqlite3_vfs_find(NULL);
    const sqlite3_syscall_ptr replacement = (sqlite3_syscall_ptr)counted_pwrite;
    if (system->xGetSystemCall(system, "pwrite") != NULL)
        system->xSetSystemCall(system, "pwrite", replacement);
    if (system->xGetSystemCall(system, "pwrite64") != NULL)
        system->xSetSystemCall(system, "pwrite64", replacement);
}

static struct transfers read_transfers(const char* path) {
    struct transfers found = {NULL, 0};
    struct transfer item;
    size_t room = 0;
    FILE* file = fopen(path, "r");
    if (file == NULL)
        fail(path);
    while (fscanf(file, "%d,%d,%d", &item.source, &item.target, &item.amount) == 3 &&
           getc(file) == '\n') {
        if (found.count == room) {
            room = room * 2 + 1024;
            found.items = realloc(found.items, room * sizeof *found.items);
            if (found.items == NULL)
                fail("no memory");
        }
        found.items[found.count++] = item;
    }
    errno = 0;
    if (!feof(file) || found.count == 0)
        fail("the input has a line that is no transfer, or none at all");
    fclose(file);
    return found;
}

static void check(sqlite3* database, int status) {
    if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) {
        fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(database));
        exit(2);
    }
}

static void execute(sqlite3* database, const char* text) {
    check(database, sqlite3_exec(database, text, NULL, NULL, NULL));
}

static sqlite3_stmt* prepared(sqlite3* database, const char* text) {
    sqlite3_stmt* statement = NULL;
    check(database, sqlite3_prepare_v2(database, text, -1, &statement, NULL));
    return statement;
}

/* Runs a statement with up to four numbers and gives how many rows it changed. */
static int update(sqlite3* database, sqlite3_stmt* statement, const int* values) {
    const int count = sqlite3_bind_parameter_count(statement);
    for (int i = 0; i < count; ++i)
        check(database, sqlite3_bind_int(statement, i + 1, values[i]));
    check(database, sqlite3_step(statement));
    check(database, sqlite3_reset(statement));
    return sqlite3_changes(database);
}

static void make_tables(sqlite3* database) {
    execute(database,
            "pragma journal_mode = delete; pragma synchronous = full;"
            "create table account(id integer primary key, branch int, balance int);"
            "create table transfer(id integer primary key, source int, target int, amount int);"
            "create index by_branch on account(branch); begin");
    sqlite3_stmt* insert = prepared(database, "insert into account values (?, ?, ?)");
    for (int id = 0; id < ACCOUNTS; ++id)
        update(database, insert, (const int[]){id, id % BRANCHES, FIRST_BALANCE});
    sqlite3_finalize(insert);
    execute(database, "commit");
}

/* Books the transfers that are covered and gives a checksum of those that are not. */
static uint64_t book(sqlite3* database, struct transfers transfers) {
    uint64_t refused = CHECKSUM_START;
    sqlite3_stmt* take = prepared(
        database, "update account set balance = balance - ? where id = ? and balance >= ?");
    sqlite3_stmt* give =
        prepared(database, "update account set balance = balance + ? where id = ?");
    sqlite3_stmt* log = prepared(database, "insert into transfer values (?, ?, ?, ?)");
    for (size_t i = 0; i < transfers.count; ++i) {
        const struct transfer item = transfers.items[i];
        if (i % TRANSFERS_A_TRANSACTION == 0)
            execute(database, "begin");
        if (update(database, take, (const int[]){item.amount, item.source, item.amount}) == 0) {
            refused = checksum_add(refused, (uint64_t)item.source);
            refused = checksum_add(refused, (uint64_t)item.target);
            refused = checksum_add(refused, (uint64_t)item.amount);
        } else {
            update(database, give, (const int[]){item.amount, item.target});
            update(database, log, (const int[]){(int)i, item.source, item.target, item.amount});
        }
        if (i % TRANSFERS_A_TRANSACTION == TRANSFERS_A_TRANSACTION - 1 || i + 1 == transfers.count)
            execute(database, "commit");
    }
    sqlite3_finalize(take);
    sqlite3_finalize(give);
    sqlite3_finalize(log);
    return refused;
}

static uint64_t report(sqlite3* database, uint64_t sum) {
    sqlite3_stmt* rows = prepared(
        database,
        "select a.branch, count(*), sum(t.amount), max(a.balance),"
        " sum(t.source * t.amount), sum(t.target * t.amount)"
        " from account a join transfer t on t.source = a.id group by a.branch order by a.branch");
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(rows); ++column)
            sum = checksum_add(sum, (uint64_t)sqlite3_column_int64(rows, column));
    }
    check(database, sqlite3_finalize(rows));
    return sum;
}

static uint64_t run(struct transfers transfers) {
    sqlite3* database = NULL;
    uint64_t sum;
    bytes_written = 0;
    fsyncs = 0;
    check(database, sqlite3_open("bank.db", &database));
    make_tables(database);
    sum = report(database, book(database, transfers));
    check(database, sqlite3_close(database));
    if (unlink("bank.db") != 0)
        fail("bank.db");
    return sum;
}

int main(int argc, char** argv) {
    char place[] = "bank-XXXXXX";
    uint64_t expected = 0;
    if (argc != 3) {
        fprintf(stderr, "Usage: bank INPUT ITERATIONS\n");
        return 2;
    }
    const struct transfers transfers = read_transfers(argv[1]);
    const unsigned long iterations = iteration_count(argv[2]);
    count_writes();
    if (mkdtemp(place) == NULL || chdir(place) != 0)
        fail(place);
    for (unsigned long i = 0; i < iterations; ++i) {
        const double start_s = steelyard_now();
        const uint64_t sum = run(transfers);
        steelyard_iteration(steelyard_now() - start_s);
        steelyard_value("bytes_written", "bytes", (double)bytes_written, 0);
        steelyard_value("fsyncs", "count", (double)fsyncs, 0);
        if (i > 0 && sum != expected) {
            fprintf(stderr, "iteration %lu differs from the first one\n", i);
            return 1;
        }
        expected = sum;
    }
    if (chdir("..") != 0 || rmdir(place) != 0)
        fail(place);
    printf("bank %016" PRIx64 "\n%zu transfers, %llu bytes written, %lu fsyncs\n", expected,
           transfers.count, bytes_written, fsyncs);
    return 0;
}

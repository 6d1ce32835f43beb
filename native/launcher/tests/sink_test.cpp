#include "sink.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "fatal.hpp"
#include "in_child.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

struct Pipe {
    int ends[2] = {-1, -1};

    Pipe() { CHECK(pipe(ends) == 0); }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    /// What is in it now.
    std::string taken() const {
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        std::string all;
        char buffer[4096];
        for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
            all.append(buffer, static_cast<std::size_t>(got));
        return all;
    }
};

int journal_at(const std::string& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/// A sink that writes into a journal of its own and to a reader who waits.
struct Bench {
    Bench() { sink.use_journal(journal); }
    ~Bench() { close(journal); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    TemporaryFolder folder;
    Pipe pipe;
    RecordSink sink{pipe.ends[1]};
    int journal = journal_at(folder.at("journal"));
};

}  // namespace

TEST("a record is in the journal once append returns, and Python gets it after a flush") {
    Bench bench;
    bench.sink.append("one\n");
    bench.sink.append("two\n");
    CHECK(bench.folder.content("journal") == "one\ntwo\n");
    bench.sink.flush();
    CHECK(bench.pipe.taken() == "one\ntwo\n");
}

TEST("a record that does not fit leaves the journal as it was, and is no record") {
    const TemporaryFolder folder;
    const bool held = holds_in_child([&folder] {
        signal(SIGXFSZ, SIG_IGN);
        const Pipe pipe;
        RecordSink sink(pipe.ends[1]);
        sink.use_journal(journal_at(folder.at("journal")));
        sink.append("whole\n");
        const rlimit room{10, 10};
        setrlimit(RLIMIT_FSIZE, &room);
        try {
            sink.append("does not fit\n");
        } catch (const Fatal& fatal) {
            sink.flush();
            return fatal.message.find("cannot be written") != std::string::npos &&
                   pipe.taken() == "whole\n";
        }
        return false;
    });
    CHECK(held);
    CHECK(folder.content("journal") == "whole\n");
}

TEST("a sink without a journal is refused") {
    const Pipe pipe;
    RecordSink sink(pipe.ends[1]);
    bool refused = false;
    try {
        sink.use_journal(-1);
    } catch (const Fatal&) {
        refused = true;
    }
    CHECK(refused);
}

TEST("a slow reader holds up no program, and loses nothing") {
    Bench bench;
    fcntl(bench.pipe.ends[1], F_SETPIPE_SZ, 4096);
    bench.sink.flush();
    const std::string line = std::string(1999, 'x') + '\n';
    for (int count = 0; count < 5; ++count)
        bench.sink.append(line);
    bench.sink.flush_without_waiting();
    std::string got = bench.pipe.taken();
    CHECK(!got.empty() && got.size() < 5 * line.size());
    for (int turn = 0; turn < 5; ++turn) {
        bench.sink.flush_without_waiting();
        got += bench.pipe.taken();
    }
    CHECK(got == line + line + line + line + line);
}

TEST("a reader that is gone ends nothing") {
    const TemporaryFolder folder;
    const bool held = holds_in_child([&folder] {
        signal(SIGPIPE, SIG_IGN);
        Pipe pipe;
        close(pipe.ends[0]);
        RecordSink sink(pipe.ends[1]);
        sink.use_journal(journal_at(folder.at("journal")));
        sink.append("kept\n");
        sink.flush();
        return true;
    });
    CHECK(held);
    CHECK(folder.content("journal") == "kept\n");
}

TEST("why the launcher stops comes after all records") {
    Bench bench;
    bench.sink.append("one\n");
    bench.sink.report_fatal("no \"room\"");
    CHECK(bench.pipe.taken() == "one\n{\"fatal\": \"no \\\"room\\\"\"}\n");
    CHECK(bench.folder.content("journal") == "one\n");
}

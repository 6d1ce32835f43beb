// The launcher: reads what to run from its standard input, runs one trial after another, and
// writes one record each to the journal and to its standard output.

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "fatal.hpp"
#include "protocol.hpp"
#include "record.hpp"
#include "sink.hpp"
#include "streams.hpp"
#include "trial.hpp"
#include "watch.hpp"

namespace steelyard {

namespace {

constexpr int first_private_descriptor = 10;
constexpr std::int64_t default_output_cap_bytes = std::int64_t{1} << 30;

/// A copy of a descriptor that programs do not inherit.
int keep_private(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first_private_descriptor);
    if (copy < 0)
        throw Fatal::with_errno("The launcher lacks its standard streams");
    return copy;
}

/// Descriptors that the launcher was started with by oversight do not reach the programs.
void hide_inherited_descriptors() {
    if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    const long last = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 3; descriptor < last; ++descriptor)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// What the first message says: where records and output go, and what is counted.
struct Session {
    int journal = -1;
    std::string directory;
    bool keep_output = false;
    std::int64_t output_cap_bytes = default_output_cap_bytes;
};

Session open_session(MessageReader& reader, Counters& counters) {
    Fields fields;
    if (reader.next(fields) != MessageReader::Result::message || fields[0] != "session") {
        throw Fatal("The launcher waits for a session; it is started by steelyard, not by hand.");
    }
    Session session;
    for (std::size_t at = 1; at + 1 < fields.size(); at += 2) {
        const std::string_view name = fields[at];
        const std::string_view value = fields[at + 1];
        if (name == "journal")
            session.journal = static_cast<int>(integer(value));
        if (name == "directory")
            session.directory = value;
        if (name == "keep-output")
            session.keep_output = integer(value) != 0;
        if (name == "output-cap-bytes")
            session.output_cap_bytes = integer(value);
        if (name == "counter")
            counters.add(value);
    }
    return session;
}

class Launcher {
  public:
    Launcher(MessageReader& reader, RecordSink& sink, Bench bench)
        : reader_(reader), sink_(sink), bench_(bench) {}

    /// Serves messages until Python says that there are no more, or is gone.
    void serve() {
        try {
            serve_messages();
        } catch (const Fatal&) {
            bench_.leftovers.kill_all();
            throw;
        }
        bench_.leftovers.kill_all();
        sink_.flush();
    }

  private:
    void serve_messages() {
        Fields fields;
        while (!bench_.watch.stopped()) {
            if (!reader_.has_message())
                sink_.flush();
            const auto result = reader_.next(fields);
            if (result == MessageReader::Result::interrupted)
                continue;
            if (result == MessageReader::Result::end || fields[0] == "finish")
                break;
            if (fields[0] == "program") {
                define(fields);
            } else if (fields[0] == "run") {
                run(order_from(fields));
            } else {
                throw Fatal("The launcher does not know the message '" + std::string(fields[0]) +
                            "'.");
            }
        }
    }

    void define(const Fields& fields) {
        if (fields.size() < 2)
            throw Fatal("A 'program' message to the launcher needs a number.");
        Program& program = programs_[integer(fields[1])] = program_from(fields);
        program.command.seal();
        if (program.prepare)
            program.prepare->seal();
        if (program.cleanup)
            program.cleanup->seal();
        if (program.conditions.private_network)
            bench_.network.make();
    }

    void run(const Order& order) {
        const auto found = programs_.find(order.program);
        if (found == programs_.end())
            throw Fatal("The launcher was asked for an unknown program.");
        Record record;
        record.order = order;
        if (!run_trial(bench_, found->second, record))
            return;
        line_.clear();
        append_record(line_, record, found->second, bench_.counters);
        sink_.append(line_);
    }

    MessageReader& reader_;
    RecordSink& sink_;
    Bench bench_;
    std::map<std::int64_t, Program> programs_;
    std::string line_;
};

void run_session(int requests, RecordSink& sink) {
    MessageReader reader(requests);
    Counters counters;
    const Session session = open_session(reader, counters);
    sink.use_journal(session.journal);
    Streams streams(session.directory, session.keep_output, session.output_cap_bytes);
    Watch watch(requests, sink, streams);
    Leftovers leftovers;
    PrivateNetwork network;
    Launcher(reader, sink, {streams, watch, counters, leftovers, network}).serve();
}

}  // namespace

}  // namespace steelyard

int main() {
    using namespace steelyard;
    setsid();  // A session of its own: Ctrl-C reaches Python alone, which then decides.
    hide_inherited_descriptors();
    std::unique_ptr<RecordSink> sink;
    try {
        const int requests = keep_private(STDIN_FILENO);
        sink = std::make_unique<RecordSink>(keep_private(STDOUT_FILENO));
        run_session(requests, *sink);
    } catch (const Fatal& fatal) {
        if (sink)
            sink->report_fatal(fatal.message);
        return 1;
    } catch (const std::bad_alloc&) {
        if (sink)
            sink->report_fatal("The launcher has run out of memory.");
        return 1;
    }
    return 0;
}

#include "sink.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "clock.hpp"
#include "fatal.hpp"
#include "json.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t batch_ns = 20'000'000;
constexpr std::size_t batch_bytes = 32 * 1024;

std::string cannot_write(int error) {
    return std::string("The journal cannot be written: ") + std::strerror(error) +
           ". All trials before this one are kept; make room and resume the experiment.";
}

}  // namespace

void RecordSink::use_journal(int journal) {
    if (fcntl(journal, F_GETFD) < 0)
        throw Fatal::with_errno("The launcher was given no journal");
    journal_ = journal;
}

void RecordSink::append(std::string_view line) {
    ssize_t written = -1;
    do {
        written = write(journal_, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(line.size())) {
        const int error = written < 0 ? errno : ENOSPC;
        if (written > 0) {
            const off_t end = lseek(journal_, 0, SEEK_CUR);
            if (end >= written && ftruncate(journal_, end - written) != 0) {
                throw Fatal(cannot_write(error) + " Its last line is not whole.");
            }
        }
        throw Fatal(cannot_write(error));
    }
    pending_ += line;
    if (pending_.size() >= batch_bytes || monotonic_ns() - flushed_ns_ >= batch_ns)
        flush();
}

/// Sends the first of what is pending; false where nobody is there to take it.
bool RecordSink::send(std::size_t most_bytes) {
    const ssize_t sent = write(pipe_, pending_.data(), std::min(most_bytes, pending_.size()));
    if (sent < 0)
        return errno == EINTR;
    pending_.erase(0, static_cast<std::size_t>(sent));
    return true;
}

void RecordSink::flush() {
    while (!pending_.empty()) {
        if (!send(pending_.size()))
            pending_.clear();  // Python is gone; the journal has the records.
    }
    flushed_ns_ = monotonic_ns();
}

void RecordSink::flush_without_waiting() {
    pollfd pipe{pipe_, POLLOUT, 0};
    while (!pending_.empty() && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLOUT) != 0) {
        if (!send(PIPE_BUF))  // So much is taken at once wherever there is room at all; pipe(7).
            return;
    }
}

void RecordSink::report_fatal(std::string_view message) {
    pending_ += "{\"fatal\": ";
    append_string(pending_, message);
    pending_ += "}\n";
    flush();
}

}  // namespace steelyard

// Where finished records go: each to the journal, which commits the trial, and in batches to
// Python.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard {

/// Takes finished records: each to the journal at once, by one write that commits the trial;
/// to Python in batches, so that it is not woken between two short trials.
class RecordSink {
  public:
    explicit RecordSink(int pipe) : pipe_(pipe) {}

    /// Appends to the open file `journal` from now on, which must end with a whole line. It is the
    /// very file that Python has locked, so that the lock holds until both have ended.
    void use_journal(int journal);

    /// Commits one line. Throws Fatal where it cannot be written whole; what was written of it is
    /// then taken back.
    void append(std::string_view line);

    /// Sends what Python has not got yet; waits for room in the pipe.
    void flush();

    /// Sends as much of it as goes without waiting: while a program runs, its end must not be
    /// noticed late because Python is slow.
    void flush_without_waiting();

    /// Tells Python why the launcher stops, after all records.
    void report_fatal(std::string_view message);

  private:
    bool send(std::size_t most_bytes);

    int journal_ = -1;
    int pipe_;
    std::string pending_;
    std::int64_t flushed_ns_ = 0;
};

}  // namespace steelyard

// One profile being recorded: what belongs to it, and into which file it goes.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "following.hpp"
#include "inheriting_mutex.hpp"
#include "profile_file.hpp"
#include "side_band.hpp"
#include "stack_bases.hpp"

namespace steelyard {

/// Where a profile is kept. With a limit it goes on in PATH.1, PATH.2 ... of about `limit_bytes`
/// each, of which the newest `kept_files` stay (0: all).
struct Storage {
    std::string path;
    std::string header_json;
    std::uint64_t limit_bytes = 0;
    unsigned kept_files = 0;
    /// Where programs note the stacks of their threads; empty: stacks are not asked for.
    std::string stack_notes;
    /// The file of the program whose frames are not walked; empty: all are.
    std::string program;
};

/// Takes samples and side-band records from several threads at once.
class Recording {
  public:
    Recording(Storage storage, Depth depth);

    void follow(pid_t process);
    /// From here on what the file had before is gone.
    void begin();
    void take(const Sample& sample);
    void take(const SideBandRecord& record);
    /// A look at a CPU that gave no sample. The times of all looks are kept, since they show
    /// whether those are random.
    void take_look(std::uint64_t time_ns, std::uint32_t cpu);
    void flush();
    /// Writes what the sampler says of itself so far.
    void summarize(const std::string& summary_json);

    /// Those that run.
    std::vector<pid_t> followed();
    std::uint64_t samples() const { return samples_; }
    std::uint64_t lost() const { return lost_; }

  private:
    void rotate_if_full();
    void write_look(std::uint64_t time_ns, std::uint32_t cpu);
    Sample with_callers(const Sample& sample);
    Sample with_program_frame(const Sample& sample);
    Sample with_frameless_caller(const Sample& sample);
    std::unique_ptr<StackBases> stack_bases();

    Storage storage_;
    Depth depth_;
    InheritingMutex mutex_;
    Following following_;
    Unwinder unwinder_;
    std::vector<std::uint64_t> chain_;
    unsigned file_number_ = 0;
    std::unique_ptr<ProfileFile> file_;
    std::unique_ptr<StackBases> bases_;  // null: not asked for
    std::atomic<std::uint64_t> samples_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace steelyard

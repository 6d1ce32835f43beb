// One profile being recorded: what belongs to it, and into which file it goes.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ambiguous_keys.hpp"
#include "following.hpp"
#include "inheriting_mutex.hpp"
#include "profile_file.hpp"
#include "side_band.hpp"
#include "stack_bases.hpp"
#include "walk_filter.hpp"
#include "walked_keys.hpp"

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
    /// Name and build (bytes) of the program whose believed keys are not walked again; an empty
    /// name: all are walked.
    std::string spared_name;
    std::string spared_build;
    /// The file of the program's keys whose stacks are walked, as far as tells their path; empty:
    /// it is not asked for.
    std::string ambiguous_keys;
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
    /// What happened at a moment that nobody drew: nothing is kept where it was not the program.
    void take_event(const Sample& sample);
    void take(const SideBandRecord& record);
    /// A look at a CPU that gave no sample. The times of all looks are kept, since they show
    /// whether those are random.
    void take_look(std::uint64_t time_ns, std::uint32_t cpu);
    void flush();
    /// Writes what the sampler says of itself so far.
    void summarize(const std::string& summary_json);

    /// What drops looks whose stack need not be walked; null: nothing does.
    const WalkFilter* walk_filter() const { return filter_.get(); }
    std::uint64_t copied_bytes() const { return copied_bytes_; }
    /// Stacks that were walked as far as tells, and their frames, with that of the sample; nothing
    /// where that is not asked for.
    struct Walks {
        std::uint64_t samples = 0;
        std::uint64_t frames = 0;
    };
    std::optional<Walks> walks() const;
    /// Whether two events look at each thread, of which one copies stacks: where the path is
    /// ambiguous by a map.
    bool parts_looks() const { return filter_ && filter_->parts(); }

    /// Those that run.
    std::vector<pid_t> followed();
    std::uint64_t samples() const { return samples_; }
    std::uint64_t lost() const { return lost_; }

  private:
    void rotate_if_full();
    bool is_of_program(const Sample& sample);
    void write_sample(const Sample& sample);
    void write_look(std::uint64_t time_ns, std::uint32_t cpu);
    Sample with_callers(const Sample& sample);
    void note_walk(const Sample& sample, const std::vector<std::uint64_t>& chain);
    Sample with_telling_callers(const Sample& sample, const AmbiguousKeys& keys);
    const std::vector<Callers>* paths_of(const Sample& sample, const AmbiguousKeys& keys,
                                         const Lookup& lookup);
    bool is_of_named_program(const FilePlace& place) const;
    std::unique_ptr<WalkFilter> filter() const;
    void note_code(const Mapping& mapping);
    void watch_code(const Mapping& mapping);
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
    std::unique_ptr<StackBases> bases_;         // null: not asked for
    std::unique_ptr<WalkFilter> filter_;        // null: not asked for, or the kernel has none
    std::optional<std::uint64_t> code_offset_;  // of the mapping whose functions it knows
    WalkedKeys walked_;
    std::optional<AmbiguousKeys> ambiguous_;  // nothing: not asked for
    std::atomic<std::uint64_t> walks_ = 0;
    std::atomic<std::uint64_t> walked_frames_ = 0;
    std::atomic<std::uint64_t> copied_bytes_ = 0;
    std::atomic<std::uint64_t> samples_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace steelyard

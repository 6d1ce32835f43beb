// The sampler: looks at random times where a program is, and writes that down.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpus.hpp"
#include "fatal.hpp"
#include "options.hpp"
#include "sampling_clocks.hpp"
#include "target.hpp"

namespace steelyard {

namespace {

constexpr std::uint64_t flush_interval_ns = 250'000'000;
// Flushes from one summary to the next: a recording that is cut off has the last one.
constexpr unsigned flushes_a_summary = 8;
// More would be taken from it by something that does not end.
constexpr int most_choices_of_cpus = 3;

/// Many threads take many files; the limit that is raised is the sampler's, not the program's.
void allow_many_files() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/// How the program ended, where it is known, as further fields.
std::string ending_json(std::optional<int> status) {
    if (status && WIFEXITED(*status))
        return R"(, "exit_code": )" + std::to_string(WEXITSTATUS(*status));
    if (status && WIFSIGNALED(*status))
        return R"(, "signal": )" + std::to_string(WTERMSIG(*status));
    return {};
}

/// How much of the program's time was watched, where that is not all of it and is known.
std::string coverage_json(Sampler& sampler, const Target* target) {
    const auto coverage = sampler.coverage(target == nullptr ? 0 : target->processor_ns());
    if (!coverage)
        return {};
    return R"(, "program_ns": )" + std::to_string(coverage->program_ns) + R"(, "watched_ns": )" +
           std::to_string(coverage->watched_ns) + R"(, "missed_ns": )" +
           std::to_string(coverage->missed_ns);
}

/// What became of looks, where some are dropped whose stack need not be walked.
std::string walks_json(const Recording& recording) {
    std::string found = R"(, "copied_bytes": )" + std::to_string(recording.copied_bytes());
    if (const auto walks = recording.walks())
        found += R"(, "walked": )" + std::to_string(walks->samples) + R"(, "walked_frames": )" +
                 std::to_string(walks->frames) + R"(, "parted": )" +
                 (recording.parts_looks() ? "true" : "false");
    if (recording.walk_filter() == nullptr || recording.parts_looks())
        return found;
    const FilteredLooks looks = recording.walk_filter()->looks();
    return found + R"(, "filtered": )" + std::to_string(looks.all) + R"(, "spared": )" +
           std::to_string(looks.spared) + R"(, "checked": )" + std::to_string(looks.checked) +
           R"(, "elsewhere": )" + std::to_string(looks.elsewhere);
}

std::string summary_json(const Recording& recording, Sampler& sampler, const Target* target,
                         std::uint64_t elapsed_ns, std::optional<int> status) {
    return R"({"samples": )" + std::to_string(recording.samples()) + R"(, "lost": )" +
           std::to_string(recording.lost()) + R"(, "unwatched_threads": )" +
           std::to_string(sampler.unwatched()) + R"(, "late": )" +
           std::to_string(sampler.delays().late) + R"(, "unseen": )" +
           std::to_string(sampler.delays().unseen) + R"(, "idle_ns": )" +
           std::to_string(sampler.idle_ns()) + R"(, "elapsed_ns": )" + std::to_string(elapsed_ns) +
           R"(, "handling_ns": )" + std::to_string(sampler.handling_ns()) + R"(, "scope": ")" +
           sampler.scope() + R"(")" + walks_json(recording) + coverage_json(sampler, target) +
           ending_json(status);
}

/// Blocks the signals that end a recording, so that they can be waited for.
sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
        sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return set;
}

/// Whether a process that somebody else started is over, and what it started where it waits for
/// nobody any more. One that was dead before the recording began has no end that is recorded.
bool is_over(pid_t process, Recording& recording) {
    return (kill(process, 0) != 0 && errno == ESRCH) ||
           std::ranges::all_of(recording.followed(), has_ended);
}

/// Waits until the program has ended, the time is over or somebody says that it is enough. Who says
/// so by Ctrl-C has told the program too; SIGTERM is handed on to it. It has until the next flush
/// to end by that, so that how it ended is known. Calls `go_on` as often as the file is flushed,
/// and ends where that does not say so.
std::optional<int> wait_for_the_end(const Options& options, Target* target, std::uint64_t begin_ns,
                                    const sigset_t& signals, const std::function<bool()>& go_on) {
    const auto limit_ns = options.duration_s > 0
                              ? static_cast<std::uint64_t>(options.duration_s * 1e9)
                              : std::numeric_limits<std::uint64_t>::max();
    bool is_enough = false;
    while (true) {
        const std::uint64_t left_ns = limit_ns - std::min(limit_ns, monotonic_ns() - begin_ns);
        const timespec interval{0, static_cast<long>(std::min(flush_interval_ns, left_ns))};
        const int signal = sigtimedwait(&signals, nullptr, &interval);
        int status = 0;
        if (target != nullptr && target->ended(status))
            return status;
        if (is_enough)
            break;
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
            if (target == nullptr)
                break;
            if (signal == SIGTERM)
                target->tell(signal);
            is_enough = true;
        }
        if (monotonic_ns() - begin_ns >= limit_ns || !go_on())
            break;
    }
    return std::nullopt;
}

/// What processes that run already have mapped, and how their threads are called.
void take_present(const std::vector<pid_t>& processes, Recording& recording) {
    for (const pid_t process : processes) {
        recording.follow(process);
        for (const Mapping& mapping : present_mappings(process, monotonic_ns()))
            recording.take(mapping);
        for (const Comm& comm : present_comms(process, monotonic_ns()))
            recording.take(comm);
    }
}

std::unique_ptr<Sampler> sampler_of(const Options& options, pid_t process,
                                    const std::vector<pid_t>& family, Recording& recording) {
    if (!options.sampling.marks.empty())
        return mark_sampler(options.sampling, recording, process);
    Sampling sampling = options.sampling;
    // Where looks are not parted each copies the stack, since it may be at an ambiguous key.
    if (recording.walks() && !recording.parts_looks())
        sampling.depth.stack_copy = true;
    const Rights rights = rights_here();
    if (!options.events.wanted.empty())
        return event_sampler(options.events, recording, family, options.process == 0, rights);
    if (rights.whole_cpus && !options.threads_only && !recording.parts_looks() &&
        runs_within_reach(process))
        return cpu_sampler(sampling, recording);
    return thread_sampler(sampling, recording, family, rights.kernel);
}

struct Started {
    std::unique_ptr<Sampler> sampler;
    std::uint64_t begin_ns;
};

/// A sampler that samples. CPUs may be taken from it (by a cpuset, or switched off) between
/// choosing them and running there: it chooses again then, since the program has not begun.
Started started_sampler(const Options& options, pid_t process, const std::vector<pid_t>& family,
                        Recording& recording) {
    for (int attempt = 1;; ++attempt) {
        try {
            auto sampler = sampler_of(options, process, family, recording);
            if (options.process != 0)
                take_present(family_of(process), recording);
            const std::uint64_t begin_ns = monotonic_ns();
            sampler->start();
            if (sampler->failed())
                sampler->stop();  // throws why
            return {std::move(sampler), begin_ns};
        } catch (const CpuTaken& taken) {
            if (attempt == most_choices_of_cpus)
                throw Fatal(taken.message + "\nThat was so for each of " + std::to_string(attempt) +
                            " choices of CPUs. A cpuset or a CPU that is switched off takes them; "
                            "--threads-only needs none.");
        }
    }
}

/// Records from the program's beginning to its end, and reports. What ends the recording before
/// does not end the program, which is waited for unwatched.
void record_running(const Options& options, Target* target, Recording& recording,
                    std::unique_ptr<Sampler> sampler, std::uint64_t begin_ns) {
    const sigset_t signals = ending_signals();
    const auto summary = [&](std::optional<int> ending, const char* tail) {
        return summary_json(recording, *sampler, target, monotonic_ns() - begin_ns, ending) + tail;
    };
    unsigned flushes = 0;
    std::optional<int> status;
    try {
        recording.begin();
        status = wait_for_the_end(options, target, begin_ns, signals, [&] {
            sampler->look_around();
            if (sampler->failed() || (target == nullptr && is_over(options.process, recording)))
                return false;
            if (flushes++ % flushes_a_summary == 0)
                recording.summarize(summary(std::nullopt, R"(, "interim": true})"));
            recording.flush();
            return true;
        });
        sampler->stop();
        const std::string whole = summary(status, "}");
        recording.summarize(whole);
        dprintf(options.report, "%s\n", whole.c_str());
    } catch (const Fatal& fatal) {
        dprintf(options.report, "failed: %s\n", fatal.message.c_str());
        sampler.reset();
        if (target != nullptr && !status)
            status = wait_for_the_end(options, target, begin_ns, signals, [] { return true; });
        dprintf(options.report, "{\"samples\": %llu%s}\n",
                static_cast<unsigned long long>(recording.samples()), ending_json(status).c_str());
    }
}

void record(const Options& options) {
    fcntl(options.report, F_SETFD, FD_CLOEXEC);
    // What takes no more says so when it is written to.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    ending_signals();
    Recording recording(options.storage, options.sampling.depth);
    std::unique_ptr<Target> target;
    if (options.process == 0)
        target = std::make_unique<Target>(options.command);
    allow_many_files();
    const pid_t process = target ? target->process() : options.process;
    const auto family = target ? std::vector{process} : family_of(process);
    for (const pid_t member : family)
        recording.follow(member);
    auto [sampler, begin_ns] = started_sampler(options, process, family, recording);
    if (target) {
        dprintf(options.report, "program %d\n", static_cast<int>(process));
        target->release();
    }
    record_running(options, target.get(), recording, std::move(sampler), begin_ns);
}

}  // namespace

}  // namespace steelyard

int main(int count, char** words) {
    steelyard::Options options;
    try {
        steelyard::read_options(count, words, options);
        steelyard::record(options);
    } catch (const steelyard::Fatal& fatal) {
        dprintf(options.report, "error: %s\n", fatal.message.c_str());
        return 1;
    }
    return 0;
}

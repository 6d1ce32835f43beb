#include "refusals.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

namespace steelyard {

namespace {

/// What kernel.perf_event_paranoid is set to; nothing where that is not shown.
std::optional<int> paranoia() {
    std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
    int level = 0;
    if (file >> level)
        return level;
    return std::nullopt;
}

Fatal not_allowed(const char* what) {
    // The most that lets somebody watch programs of their own, perf_event_open(2).
    constexpr int own_programs = 2;
    const std::string begin = std::string("The kernel does not allow ") + what + ".\n";
    const auto level = paranoia();
    if (!level || *level > own_programs)
        return Fatal(begin +
                     "sysctl kernel.perf_event_paranoid=2 (or less) allows it for your own "
                     "programs.");
    return Fatal(begin + "kernel.perf_event_paranoid is " + std::to_string(*level) +
                 ", which allows it for your own programs: the process is another user's (let "
                 "that user or root record), or a container denies perf_event_open(2) (start it "
                 "with --cap-add PERFMON, or a seccomp profile that allows the call).");
}

Fatal too_many_files() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    return Fatal("There are more threads or CPUs to watch than the " +
                 std::to_string(files.rlim_cur) +
                 " files that may be open.\nThe sampler has raised its limit to the hard one: "
                 "`ulimit -Hn` shows it, and root can raise it.");
}

}  // namespace

Fatal refusal(const char* what) {
    if (errno == EACCES || errno == EPERM)
        return not_allowed(what);
    if (errno == ENOSYS)
        return Fatal("This kernel has no perf_event_open(2), or a container hides it.");
    if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
        return Fatal(std::string("This machine cannot give ") + what + "; use --event cpu-clock.");
    if (errno == EMFILE)
        return too_many_files();
    return Fatal::with_errno(std::string("The kernel refuses ") + what);
}

}  // namespace steelyard

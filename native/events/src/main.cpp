// Records which call paths lead to events of the next program that a process starts, until it is
// told to end: says `ready` when it records, or `error:` and why it cannot.

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "fatal.hpp"
#include "options.hpp"
#include "recorder.hpp"

namespace steelyard {

namespace {

// What is in a ring below its mark waits so long.
constexpr int longest_wait_ms = 50;

/// A descriptor that can be read when it is time to end.
int ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

void allow_many_files() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

void record(const Options& options) {
    const int ending = ending_signals();
    allow_many_files();
    Recorder recorder(options.wanted, options.process, options.notes);
    std::puts("ready");
    std::fflush(stdout);
    if (options.output.empty())
        return;
    std::vector<pollfd> files{{ending, POLLIN, 0}};
    for (const int file : recorder.files())
        files.push_back({file, POLLIN, 0});
    while ((files.front().revents & POLLIN) == 0) {
        poll(files.data(), files.size(), longest_wait_ms);
        recorder.take();
    }
    std::ofstream output(options.output, std::ios::binary);
    output << recorder.json() << std::flush;
    if (!output)
        throw Fatal("The call paths cannot be written to " + options.output + ".");
}

}  // namespace

}  // namespace steelyard

int main(int count, char** words) {
    try {
        steelyard::record(steelyard::options_from(count, words));
    } catch (const steelyard::Fatal& fatal) {
        std::printf("error: %s\n", fatal.message.c_str());
        return 1;
    }
    return 0;
}

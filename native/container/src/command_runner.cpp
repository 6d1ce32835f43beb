#include "command_runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "fatal.hpp"
#include "proc_table.hpp"

namespace steelyard {

namespace {

constexpr int look_ms = 20;
constexpr std::size_t most_kept = 1 << 16;

std::int64_t now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void write_whole(int file, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t done = write(file, data, size);
        if (done <= 0)
            return;
        data += done;
        size -= static_cast<std::size_t>(done);
    }
}

/// What a command writes: passed on, or kept, and counted.
class Flow {
  public:
    Flow(const Errand& errand, Outcome& outcome) : errand_(errand), outcome_(outcome) {}

    /// Reads what is there; whether more may come.
    bool take(int pipe, bool kept) {
        std::array<char, 1 << 16> block{};
        const ssize_t got = read(pipe, block.data(), block.size());
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == EINTR);
        const auto size = static_cast<std::size_t>(got);
        total_ += got;
        if (kept) {
            outcome_.output.append(block.data(), size);
        } else if (errand_.log >= 0) {
            write_whole(errand_.log, block.data(), size);
        }
        return true;
    }

    bool flooded() const {
        return (errand_.output_bytes != 0 && total_ > errand_.output_bytes) ||
               outcome_.output.size() > most_kept;
    }

  private:
    const Errand& errand_;
    Outcome& outcome_;
    std::int64_t total_ = 0;
};

struct Pipe {
    int ends[2];
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw Fatal::with_errno("A container lacks descriptors");
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        close(ends[0]);
        if (ends[1] >= 0)
            close(ends[1]);
    }
    void close_writer() {
        close(ends[1]);
        ends[1] = -1;
    }
};

/// Waits for the child among orphans that end meanwhile; whether it has ended.
bool has_ended(pid_t child, int& status) {
    int found = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &found, WNOHANG)) > 0) {
        if (ended == child) {
            status = found;
            return true;
        }
    }
    return false;
}

}  // namespace

std::string Outcome::told(const Errand& errand) const {
    if (late)
        return "took longer than " + std::to_string(errand.time_ms / 1000) + " s and was ended";
    if (flooded)
        return "wrote more than " +
               std::to_string(errand.keeps_output ? std::int64_t{most_kept} : errand.output_bytes) +
               " bytes and was ended";
    if (WIFSIGNALED(status))
        return "was ended by signal " + std::to_string(WTERMSIG(status));
    return "failed with exit code " + std::to_string(WEXITSTATUS(status));
}

Outcome run(const Errand& errand, const Place& place) {
    Outcome outcome;
    Pipe output;
    Pipe errors;
    const pid_t child = fork();
    if (child < 0)
        throw Fatal::with_errno("A container cannot start '" + errand.command[0] + "'");
    if (child == 0)
        become(place, errand.command, errand.environment, output.ends[1], errors.ends[1]);
    output.close_writer();
    errors.close_writer();
    Flow flow(errand, outcome);
    const std::int64_t begun_ms = now_ms();
    bool ended = false;
    pollfd both[2] = {{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}};
    while (!ended) {
        poll(both, 2, look_ms);
        ended = has_ended(child, outcome.status);
        for (int which = 0; which < 2; ++which) {
            if (both[which].fd >= 0 && both[which].revents != 0 &&
                !flow.take(both[which].fd, errand.keeps_output && which == 0))
                both[which].fd = -1;
        }
        outcome.flooded = flow.flooded();
        outcome.late = errand.time_ms != 0 && now_ms() - begun_ms > errand.time_ms;
        if (!ended && (outcome.flooded || outcome.late)) {
            end_others();
            return outcome;
        }
    }
    while (!flow.flooded() && flow.take(output.ends[0], errand.keeps_output) && errno != EAGAIN)
        errno = 0;
    outcome.flooded = flow.flooded();
    return outcome;
}

}  // namespace steelyard

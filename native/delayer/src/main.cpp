// The delayer: runs a program in which one function takes longer, by a delay that is written over
// the sled at its entry before the program begins. Nothing else in the program moves or changes.
//
//   steelyard-delayer OBJECT OFFSET TURNS -- CMD...
//
// OBJECT is the file that holds the function, OFFSET its place in that file. With 0 turns the sled
// stays as it is. The exit status is that of the program.

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "fatal.hpp"
#include "memory_map.hpp"
#include "sled.hpp"

namespace steelyard {

namespace {

constexpr int own_failure = 125;
constexpr std::size_t entry_bytes = 32;

struct Delay {
    std::string object;
    std::uint64_t offset = 0;
    std::uint32_t turns = 0;
};

template <typename Number>
Number number_from(const char* text) {
    Number value{};
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end)
        throw Fatal("The delayer wants a number, not '" + std::string(text) + "'.");
    return value;
}

/// Where the byte at `offset` of `object` is in the memory of `process`.
std::optional<std::uint64_t> address_of(pid_t process, const Delay& delay) {
    struct stat wanted{};
    if (stat(delay.object.c_str(), &wanted) != 0)
        throw Fatal::with_errno("The file " + delay.object + " cannot be read");
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto mapping = mapping_of_line(line);
        if (!mapping || mapping->inode != wanted.st_ino)
            continue;
        const std::uint64_t length = mapping->end - mapping->start;
        if (delay.offset >= mapping->offset && delay.offset - mapping->offset < length)
            return mapping->start + delay.offset - mapping->offset;
    }
    return std::nullopt;
}

void write_delay(pid_t process, const Delay& delay) {
    const auto address = address_of(process, delay);
    if (!address)
        throw Fatal("The program does not load " + delay.object +
                    " at its start; only functions of the program itself can be delayed.");
    // The tracer may write to code that the program itself may not.
    const std::string path = "/proc/" + std::to_string(process) + "/mem";
    const int memory = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (memory < 0)
        throw Fatal::with_errno("The memory of the program cannot be written");
    std::array<std::uint8_t, entry_bytes> entry{};
    const auto place = static_cast<off_t>(*address);
    const ssize_t got = pread(memory, entry.data(), entry.size(), place);
    const auto sled = got == static_cast<ssize_t>(entry.size()) ? sled_offset(entry) : std::nullopt;
    if (!sled) {
        close(memory);
        throw Fatal(
            "The function has no sled: build the program with "
            "-fpatchable-function-entry=16.");
    }
    const auto code = delay_code(delay.turns);
    const ssize_t put = pwrite(memory, code.data(), code.size(), place + static_cast<off_t>(*sled));
    close(memory);
    if (put != static_cast<ssize_t>(code.size()))
        throw Fatal::with_errno("The delay cannot be written");
}

[[noreturn]] void become(char** command) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    // To run what it is told to is all that it is for.
    execvp(command[0], command);  // NOLINT(clang-analyzer-optin.taint.GenericTaint)
    std::fprintf(stderr, "steelyard-delayer: %s: %s\n", command[0], std::strerror(errno));
    _exit(own_failure);
}

int run(const Delay& delay, char** command) {
    const pid_t process = fork();
    if (process < 0)
        throw Fatal::with_errno("The program cannot be started");
    if (process == 0)
        become(command);
    int status = 0;
    waitpid(process, &status, 0);
    if (!WIFSTOPPED(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : own_failure;
    try {
        if (delay.turns > 0)
            write_delay(process, delay);
    } catch (const Fatal&) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        throw;
    }
    ptrace(PTRACE_DETACH, process, nullptr, nullptr);
    signal(SIGINT, SIG_IGN);
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

}  // namespace steelyard

int main(int count, char** words) {
    constexpr int command_at = 5;
    try {
        if (count <= command_at || std::strcmp(words[4], "--") != 0)
            throw steelyard::Fatal("Usage: steelyard-delayer OBJECT OFFSET TURNS -- CMD...");
        const steelyard::Delay delay{words[1], steelyard::number_from<std::uint64_t>(words[2]),
                                     steelyard::number_from<std::uint32_t>(words[3])};
        return steelyard::run(delay, words + command_at);
    } catch (const steelyard::Fatal& fatal) {
        std::fprintf(stderr, "steelyard-delayer: %s\n", fatal.message.c_str());
        return steelyard::own_failure;
    }
}

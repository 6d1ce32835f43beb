// The delayer: runs a program in which one function takes longer, by a delay that is written over
// the sled at its entry before the program begins. Nothing else in the program moves or changes.
//
//   steelyard-delayer --object FILE --offset N --turns N [--memory BYTES] ... -- CMD...
//
// FILE is the file that holds the function, the offset its place there; options.hpp names the
// rest. The exit status is that of the program.

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "chain.hpp"
#include "fatal.hpp"
#include "options.hpp"
#include "sled.hpp"
#include "stopped_process.hpp"

namespace steelyard {

namespace {

constexpr int own_failure = 125;
constexpr std::size_t entry_bytes = 96;

/// Where in the function's entry the delay goes.
std::size_t place_in(std::span<const std::uint8_t> entry, std::size_t delay_bytes) {
    const auto sled = sled_offset(entry, delay_bytes);
    if (!sled)
        throw Fatal("The function has no sled of " + std::to_string(delay_bytes) +
                    " bytes: build the program with -fpatchable-function-entry=32.");
    return *sled;
}

std::vector<std::uint8_t> delay_in(const StoppedProcess& program, const Options& options) {
    if (options.memory_bytes == 0)
        return string_delay(options.turns, program.map_low(delay_buffer_bytes));
    const std::uint32_t start = program.map_low(options.memory_bytes);
    const auto chain = chain_through(start, options.memory_bytes);
    program.write(start, {reinterpret_cast<const std::uint8_t*>(chain.data()),
                          chain.size() * sizeof(std::uint32_t)});
    return memory_delay(options.turns, start);
}

void write_delay(pid_t process, const Options& options) {
    const StoppedProcess program(process);
    const auto address = program.address_of(options.object, options.offset);
    if (!address)
        throw Fatal("The program does not load " + options.object +
                    " at its start; only functions of the program itself can be delayed.");
    std::array<std::uint8_t, entry_bytes> entry{};
    const auto code = delay_in(program, options);
    if (!program.read(*address, entry))
        throw Fatal("The function's entry cannot be read.");
    program.write(*address + place_in(entry, code.size()), code);
}

/// Writes the object with the delay in it to another file, for those who load programs themselves.
void write_copy(const Options& options) {
    if (options.memory_bytes != 0)
        throw Fatal("A delay in a file only computes: memory is mapped when a program starts.");
    std::ifstream in(options.object, std::ios::binary);
    std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
    if (!in || data.size() < options.offset + entry_bytes)
        throw Fatal("The file " + options.object + " cannot be read to the function.");
    const std::span<std::uint8_t> entry{
        reinterpret_cast<std::uint8_t*>(data.data()) + options.offset, entry_bytes};
    const auto code = loop_delay(options.turns);
    const std::size_t place = place_in(entry, code.size());
    if (options.turns > 0)
        std::memcpy(entry.data() + place, code.data(), code.size());
    std::ofstream out(options.copy, std::ios::binary | std::ios::trunc);
    out.write(data.data(), static_cast<std::streamsize>(data.size()));
    out.close();
    constexpr mode_t executable = 0755;
    if (!out || chmod(options.copy.c_str(), executable) != 0)
        throw Fatal::with_errno("The file " + options.copy + " cannot be written");
}

void write_times(const Options& options, const rusage& used) {
    std::ofstream out(options.times, std::ios::trunc);
    out << used.ru_utime.tv_sec << ' ' << used.ru_utime.tv_usec << ' ' << used.ru_stime.tv_sec
        << ' ' << used.ru_stime.tv_usec << '\n';
    out.close();
    if (!out)
        throw Fatal::with_errno("The file " + options.times + " cannot be written");
}

[[noreturn]] void become(const Options& options) {
    for (const std::string& setting : options.environment)
        putenv(const_cast<char*>(setting.c_str()));
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    // To run what it is told to is all that it is for.
    execvp(options.command[0], options.command);  // NOLINT(clang-analyzer-optin.taint.GenericTaint)
    std::fprintf(stderr, "steelyard-delayer: %s: %s\n", options.command[0], std::strerror(errno));
    _exit(own_failure);
}

int run(const Options& options) {
    const pid_t process = fork();
    if (process < 0)
        throw Fatal::with_errno("The program cannot be started");
    if (process == 0)
        become(options);
    int status = 0;
    waitpid(process, &status, 0);
    if (!WIFSTOPPED(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : own_failure;
    try {
        if (options.turns > 0)
            write_delay(process, options);
    } catch (const Fatal&) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        throw;
    }
    ptrace(PTRACE_DETACH, process, nullptr, nullptr);
    signal(SIGINT, SIG_IGN);
    rusage used{};
    wait4(process, &status, 0, &used);
    if (!options.times.empty())
        write_times(options, used);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

}  // namespace steelyard

int main(int, char** words) {
    try {
        const steelyard::Options options = steelyard::options_from(words + 1);
        if (!options.copy.empty()) {
            steelyard::write_copy(options);
            return 0;
        }
        return steelyard::run(options);
    } catch (const steelyard::Fatal& fatal) {
        std::fprintf(stderr, "steelyard-delayer: %s\n", fatal.message.c_str());
        return steelyard::own_failure;
    }
}

#include "surroundings.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include "raw.hpp"
#include "settings.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint8_t breakpoint = 0xcc;

bool is_traced() {
    constexpr const char* wanted = "TracerPid:\t";
    char status[4096];
    const long size = read_file("/proc/self/status", status, sizeof status - 1);
    status[size < 0 ? 0 : size] = '\0';
    for (const char* line = status; *line != '\0'; ++line) {
        std::size_t same = 0;
        while (wanted[same] != '\0' && line[same] == wanted[same])
            ++same;
        if (wanted[same] == '\0')
            return line[same] != '0';
    }
    return false;
}

std::uint32_t lost_breakpoints(const Program& program) {
    std::uint32_t found = 0;
    for (std::uint32_t index = 0; index < program.function_count(); ++index) {
        const auto& function = program.function(index);
        const auto* now = reinterpret_cast<const std::uint8_t*>(program.original(index));
        const std::uint8_t* before = program.pristine(function.start);
        for (std::uint32_t at = 0; at < function.size; ++at)
            found += now[at] == breakpoint && before[at] != breakpoint ? 1U : 0U;
    }
    return found;
}

}  // namespace

const char* file_of_program() {
    // What follows the environment: pairs of a kind and a value.
    char** end = initial_environment();
    while (*end != nullptr)
        ++end;
    for (auto* entry = reinterpret_cast<const Elf64_auxv_t*>(end + 1); entry->a_type != AT_NULL;
         ++entry) {
        if (entry->a_type == AT_EXECFN)
            return reinterpret_cast<const char*>(entry->a_un.a_val);
    }
    return nullptr;
}

bool can_list_threads() {
    const long folder = raw(SYS_open, word("/proc/self/task"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (failed(folder))
        return false;
    raw(SYS_close, folder);
    return true;
}

void warn_of_lost_breakpoints(const Program& program) {
    const std::uint32_t count = is_traced() ? lost_breakpoints(program) : 0;
    if (count == 0)
        return;
    Text about;
    about << std::uint64_t{count}
          << " breakpoints are lost, as the functions move. To debug them where they were linked: "
             "(gdb) set environment STEELYARD_LAYOUT=heap";
    tell(about.terminated());
}

}  // namespace steelyard::layout

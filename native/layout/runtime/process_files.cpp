#include "process_files.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint64_t flag_exiting = 4;  // PF_EXITING of the kernel's sched.h
constexpr int flags_field = 9, parent_field = 4, state_field = 3;

void append(char*& place, const char* text) {
    while (*text != '\0')
        *place++ = *text++;
    *place = '\0';
}

void append(char*& place, std::uint64_t value) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count != 0)
        *place++ = digits[--count];
    *place = '\0';
}

/// A field of proc(5)'s stat, numbered from 1 and behind the name, which may hold any byte.
const char* field(const char* stat, int number) {
    const char* at = stat;
    for (const char* letter = stat; *letter != '\0'; ++letter)
        at = *letter == ')' ? letter : at;
    for (int passed = 2; passed < number && *at != '\0'; ++at)
        passed += *at == ' ' ? 1 : 0;
    return at;
}

struct FilterState {
    long process = 0;
    std::uint64_t mode = 0, count = 0;
};

/// The number behind a name in proc(5)'s status; 0 where it is not there.
std::uint64_t value_of(const char* status, const char* name) {
    for (const char* line = status; *line != '\0'; ++line) {
        std::size_t same = 0;
        while (name[same] != '\0' && line[same] == name[same])
            ++same;
        const char* digits = line + same;
        if (name[same] == '\0')
            return decimal(digits);
    }
    return 0;
}

FilterState read_filters(long process, long thread) {
    char status[4096];
    if (read_about(process, thread, "/status", status, sizeof status) <= 0)
        return {0, ~std::uint64_t{0}, 0};
    return {0, value_of(status, "\nSeccomp:\t"), value_of(status, "\nSeccomp_filters:\t")};
}

bool is_gone(char state) {
    return state == 'Z' || state == 'X';
}

}  // namespace

long read_about(long process, long thread, const char* what, char* buffer, std::size_t size) {
    char path[96];
    char* end = path;
    append(end, "/proc/");
    append(end, static_cast<std::uint64_t>(process));
    append(end, "/task/");
    append(end, static_cast<std::uint64_t>(thread));
    append(end, what);
    const long count = read_file(path, buffer, size - 1);
    buffer[count < 0 ? 0 : count] = '\0';
    return count;
}

long open_threads(long process) {
    char path[64];
    char* end = path;
    append(end, "/proc/");
    append(end, static_cast<std::uint64_t>(process));
    append(end, "/task");
    return raw(SYS_open, word(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

FirstThread state_of_first(long process) {
    char stat[512];
    if (read_about(process, process, "/stat", stat, sizeof stat) <= 0)
        return FirstThread::runs;
    if (is_gone(*field(stat, state_field)))
        return FirstThread::has_ended;
    const char* flags = field(stat, flags_field);
    return (decimal(flags) & flag_exiting) != 0 ? FirstThread::is_ending : FirstThread::runs;
}

bool is_ending(long process, long thread) {
    char stat[512];
    return read_about(process, thread, "/stat", stat, sizeof stat) <= 0 ||
           is_gone(*field(stat, state_field));
}

bool is_filtered(long process, long thread) {
    static FilterState own;
    const long self = raw(SYS_getpid);
    if (own.process != self) {
        own = read_filters(self, self);
        own.process = self;
    }
    const FilterState others = read_filters(process, thread);
    return others.mode != own.mode || others.count != own.count;
}

bool numbers_agree(long process) {
    if (raw(SYS_getpid) == process)
        return true;
    char stat[512];
    const long count = read_file("/proc/self/stat", stat, sizeof stat - 1);
    stat[count < 0 ? 0 : count] = '\0';
    const char* parent = field(stat, parent_field);
    return decimal(parent) == static_cast<std::uint64_t>(process);
}

}  // namespace steelyard::layout

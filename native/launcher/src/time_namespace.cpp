#include "time_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace steelyard {

namespace {

constexpr int clone_newtime = 0x00000080;  // <linux/sched.h>
constexpr char offsets_path[] = "/proc/self/timens_offsets";
constexpr char monotonic[] = "monotonic";

}  // namespace

const char* shift_clocks(std::int64_t shift_s, std::int64_t& realised_s) noexcept {
    if (unshare(clone_newtime) != 0)
        return "make a time namespace";
    const int file = open(offsets_path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return "open the offsets of its clocks";
    char text[256];
    const long long shift = shift_s;
    const int length =
        std::snprintf(text, sizeof text, "%s %lld 0\nboottime %lld 0\n", monotonic, shift, shift);
    const bool is_set = write(file, text, static_cast<std::size_t>(length)) == length;
    const ssize_t got = is_set ? pread(file, text, sizeof text - 1, 0) : -1;
    close(file);
    if (!is_set)
        return "shift its clocks";
    if (got <= 0)
        return "read back the offsets of its clocks";
    text[got] = '\0';
    const char* found = std::strstr(text, monotonic);
    realised_s = found == nullptr ? 0 : std::strtoll(found + sizeof monotonic - 1, nullptr, 10);
    return nullptr;
}

}  // namespace steelyard

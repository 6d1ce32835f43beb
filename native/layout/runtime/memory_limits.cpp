/// The functions by which a program locks or limits its memory: the shuffled heap has far more
/// address space than it touches, which would be filled up to the last page, or be more than the
/// limit.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include <cerrno>

#include "chunks.hpp"
#include "heap.hpp"
#include "raw.hpp"

#define STEELYARD_LIMIT \
    extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) int

namespace steelyard::layout {

namespace {

int told(long result) {
    if (!failed(result))
        return 0;
    errno = static_cast<int>(-result);
    return -1;
}

/// What is given back is so before there is a limit: a thread that finds no room in the heap
/// meanwhile finds it in the C library's.
int limit(pid_t process, int resource, const void* wanted, void* before) {
    const bool is_own = process == 0 || process == raw(SYS_getpid);
    if (wanted != nullptr && is_own && resource == RLIMIT_AS && heap_is_shuffled())
        give_unused_back(static_cast<const rlimit*>(wanted)->rlim_cur);
    return told(raw(SYS_prlimit64, process, resource, word(wanted), word(before)));
}

}  // namespace

/// Pages that are there are locked at once, all others when they are touched.
STEELYARD_LIMIT mlockall(int flags) noexcept {
    return told(raw(SYS_mlockall, heap_is_shuffled() ? flags | MCL_ONFAULT : flags));
}

STEELYARD_LIMIT setrlimit(__rlimit_resource_t resource, const rlimit* wanted) noexcept {
    return limit(0, static_cast<int>(resource), wanted, nullptr);
}

STEELYARD_LIMIT setrlimit64(__rlimit_resource_t resource, const rlimit64* wanted) noexcept {
    return limit(0, static_cast<int>(resource), wanted, nullptr);
}

STEELYARD_LIMIT prlimit(pid_t process, __rlimit_resource resource, const rlimit* wanted,
                        rlimit* before) noexcept {
    return limit(process, static_cast<int>(resource), wanted, before);
}

STEELYARD_LIMIT prlimit64(pid_t process, __rlimit_resource resource, const rlimit64* wanted,
                          rlimit64* before) noexcept {
    return limit(process, static_cast<int>(resource), wanted, before);
}

}  // namespace steelyard::layout

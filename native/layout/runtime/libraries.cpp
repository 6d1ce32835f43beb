/// Shared libraries that were built for moving tell of their coming and going here
/// (module.cpp is what they tell it by).
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "modules.hpp"
#include "mover.hpp"

#define STEELYARD_EXPORT \
    extern "C" __attribute__((visibility("default"), section("steelyard_text"), used))

namespace steelyard::layout {

namespace {

/// How many calls of dlclose this thread is in. At exit libraries go too, but other threads may
/// still be in them, so only what is closed is given back.
__thread std::uint32_t closing = 0;

struct Wanted {
    const Elf64_Ehdr* image;
    const char* path;
};

int match(dl_phdr_info* about, std::size_t /*size*/, void* place) {
    auto* wanted = static_cast<Wanted*>(place);
    // A library's first segment, which its header lies in, starts at its bias.
    if (about->dlpi_addr != reinterpret_cast<std::uint64_t>(wanted->image))
        return 0;
    wanted->path = about->dlpi_name;
    return 1;
}

}  // namespace

STEELYARD_EXPORT void steelyard_layout_enter(const Elf64_Ehdr* image) {
    Wanted wanted{image, nullptr};
    if (!modules().is_started() || dl_iterate_phdr(match, &wanted) == 0)
        return;
    hold_moves();
    modules().enter(image, wanted.path);
    resume_moves();
}

STEELYARD_EXPORT void steelyard_layout_leave(const Elf64_Ehdr* image) {
    if (closing == 0)
        return;
    hold_moves();
    modules().leave(image);
    resume_moves();
}

STEELYARD_EXPORT int dlclose(void* library) {
    using Close = int (*)(void*);
    static const auto next = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
    ++closing;
    const int failure = next(library);
    --closing;
    return failure;
}

}  // namespace steelyard::layout

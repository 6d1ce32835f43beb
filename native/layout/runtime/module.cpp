/// What is linked into a shared library: it tells the runtime of the program that loads it when it
/// comes and goes. In a program without the runtime nobody listens, and the library stays.
#include <elf.h>

#define STEELYARD_MODULE(name) extern "C" __attribute__((weak)) void name(const Elf64_Ehdr* image)

extern "C" const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

STEELYARD_MODULE(steelyard_layout_enter);
STEELYARD_MODULE(steelyard_layout_leave);

namespace steelyard::layout {

namespace {

__attribute__((section("steelyard_text"))) void enter() {
    if (steelyard_layout_enter != nullptr)
        steelyard_layout_enter(&__ehdr_start);
}

__attribute__((section("steelyard_text"))) void leave() {
    if (steelyard_layout_leave != nullptr)
        steelyard_layout_leave(&__ehdr_start);
}

// Before all constructors of the library, and after all its destructors.
__attribute__((section(".init_array.00000"), used)) void (*const first)() = enter;
__attribute__((section(".fini_array.00000"), used)) void (*const last)() = leave;

}  // namespace

}  // namespace steelyard::layout

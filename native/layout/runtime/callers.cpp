/// glibc's dlopen and its kind look by their return address who calls: whose RUNPATH holds, and
/// which libraries come after. An address in a copy is nobody's. Calls from copies therefore go on
/// as if they returned into the original's own image: to a `ret` there, and by way of it to the
/// copy.
#include <dlfcn.h>
#include <elf.h>

#include <cstdint>

#include "modules.hpp"
#include "next_definition.hpp"

namespace steelyard::layout {

namespace {

enum Called : std::uint32_t { calls_dlopen, calls_dlmopen, calls_dlsym, calls_dlvsym };
constexpr const char* names[] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};
void* known[4];

void* real(std::uint32_t which) {
    void* found = __atomic_load_n(&known[which], __ATOMIC_ACQUIRE);
    if (found == nullptr) {
        found = next_definition(names[which]);
        __atomic_store_n(&known[which], found, __ATOMIC_RELEASE);
    }
    return found;
}

}  // namespace

/// Where a call is to go, and the `ret` that it is to return to, or null: in rax and rdx.
struct Route {
    void* function;
    const void* place;
};

extern "C" __attribute__((visibility("hidden"), section("steelyard_text"), used)) Route
steelyard_layout_route(std::uint64_t caller, std::uint32_t which) {
    return {real(which), modules().return_in_image(caller)};
}

// Two words are pushed, as the stack is to be aligned as it was: the `ret` returns to itself once.
#define STEELYARD_CALLER(name, which)                    \
    asm(".pushsection steelyard_text,\"ax\",@progbits\n" \
        ".globl " name                                   \
        "\n"                                             \
        ".type " name ",@function\n" name                \
        ":\n"                                            \
        "    .cfi_startproc\n"                           \
        "    pushq %rdi\n"                               \
        "    .cfi_adjust_cfa_offset 8\n"                 \
        "    pushq %rsi\n"                               \
        "    .cfi_adjust_cfa_offset 8\n"                 \
        "    pushq %rdx\n"                               \
        "    .cfi_adjust_cfa_offset 8\n"                 \
        "    movq 24(%rsp), %rdi\n"                      \
        "    movl $" which                               \
        ", %esi\n"                                       \
        "    call steelyard_layout_route\n"              \
        "    movq %rdx, %rcx\n"                          \
        "    popq %rdx\n"                                \
        "    .cfi_adjust_cfa_offset -8\n"                \
        "    popq %rsi\n"                                \
        "    .cfi_adjust_cfa_offset -8\n"                \
        "    popq %rdi\n"                                \
        "    .cfi_adjust_cfa_offset -8\n"                \
        "    testq %rcx, %rcx\n"                         \
        "    jz 1f\n"                                    \
        "    pushq %rcx\n"                               \
        "    .cfi_adjust_cfa_offset 8\n"                 \
        "    pushq %rcx\n"                               \
        "    .cfi_adjust_cfa_offset 8\n"                 \
        "1:  jmp *%rax\n"                                \
        "    .cfi_endproc\n"                             \
        ".size " name ", .-" name                        \
        "\n"                                             \
        ".popsection\n")

STEELYARD_CALLER("dlopen", "0");
STEELYARD_CALLER("dlmopen", "1");
STEELYARD_CALLER("dlsym", "2");
STEELYARD_CALLER("dlvsym", "3");

/// An address in a copy is named as that of the original is.
extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) int dladdr(
    const void* address, Dl_info* info) {
    static const auto real_dladdr = next<int (*)(const void*, Dl_info*)>("dladdr");
    std::uint64_t original = 0;
    std::uint64_t distance = 0;
    const auto place = reinterpret_cast<std::uint64_t>(address);
    const bool is_copy = modules().original(place, original, distance);
    return real_dladdr(is_copy ? reinterpret_cast<const void*>(original) : address, info);
}

}  // namespace steelyard::layout

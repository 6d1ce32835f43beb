#include "manager.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "modules.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t stack_bytes = 256U << 10U;
constexpr std::size_t tls_bytes = 4096;

Lock moving;
std::uint32_t never = 0;
std::uint8_t* stack = nullptr;
// What libc's functions, such as memcpy, may look at through the thread pointer.
alignas(64) std::uint64_t tls[tls_bytes / sizeof(std::uint64_t)];

void run() {
    raw(SYS_prctl, PR_SET_NAME, word("layout"));
    while (true) {
        futex_wait(&never, 0, settings().interval_ns);
        const Guard guard(moving);
        modules().move();
    }
}

extern "C" long steelyard_layout_clone(unsigned long flags, void* stack_top, void* thread_pointer,
                                       void (*entry)());
asm(R"(
.pushsection steelyard_text,"ax",@progbits
.type steelyard_layout_clone,@function
steelyard_layout_clone:
    movq %rcx, %r9
    movq %rdx, %r8
    xorl %edx, %edx
    xorl %r10d, %r10d
    movl $56, %eax
    syscall
    testq %rax, %rax
    jnz 1f
    xorl %ebp, %ebp
    call *%r9
    ud2
1:  ret
.size steelyard_layout_clone, .-steelyard_layout_clone
.popsection
)");

}  // namespace

void start_manager() {
    if (settings().interval_ns == 0 || !modules().is_started())
        return;
    if (stack == nullptr)
        stack = static_cast<std::uint8_t*>(map_pages(nullptr, stack_bytes, PROT_READ | PROT_WRITE));
    if (stack == nullptr)
        fail("there is no memory for the thread that moves functions");
    tls[0] = reinterpret_cast<std::uint64_t>(tls);
    tls[2] = tls[0];
    constexpr std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&all), word(&before), sizeof all);
    constexpr unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                    CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
    const long started = steelyard_layout_clone(flags, stack + stack_bytes, tls, run);
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&before), 0, sizeof before);
    if (failed(started))
        fail("the thread that moves functions cannot be started");
}

void hold_manager() {
    moving.take();
}

void resume_manager() {
    moving.give();
}

void restart_manager_in_child() {
    moving.reset();
    forget_threads_of_parent();
    start_manager();
}

}  // namespace steelyard::layout

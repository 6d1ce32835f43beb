#include "mover.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "modules.hpp"
#include "process_files.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "system_calls.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t stack_bytes = 256U << 10U;
constexpr std::size_t tls_bytes = 4096;
constexpr std::uint64_t microsecond_ns = 1000, millisecond_ns = 1'000'000;
// How long the end of a program may pass unseen whose first thread ended before it.
constexpr std::uint64_t longest_unseen_ns = 50 * millisecond_ns;
constexpr std::uint64_t lock_patience_ns = 100 * millisecond_ns;

Lock moving;
std::uint32_t moves_now = 0;  ///< the mover has the lock
std::uint32_t stops = 0;
std::int32_t program_process = 0;
std::int32_t* first_thread = nullptr;
bool first_is_there = false;  ///< as the mover saw it last
std::uint8_t* stack = nullptr;
// What libc's functions, such as memcpy, may look at through the thread pointer.
alignas(64) std::uint64_t tls[tls_bytes / sizeof(std::uint64_t)];

std::int32_t load(const std::int32_t* place) {
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/// A futex that the kernel itself wakes is none of a single process to it.
void wait_shared(const std::int32_t* place, std::int32_t expected, std::uint64_t timeout_ns) {
    constexpr std::uint64_t second_ns = 1000 * millisecond_ns;
    const timespec timeout{static_cast<time_t>(timeout_ns / second_ns),
                           static_cast<long>(timeout_ns % second_ns)};
    raw(SYS_futex, word(place), FUTEX_WAIT, expected, word(&timeout));
}

void wake_shared(const std::int32_t* place) {
    constexpr long all = 0x7fffffff;
    raw(SYS_futex, word(place), FUTEX_WAKE, all);
}

bool program_has_ended() {
    return raw(SYS_getppid) != program_process;
}

/// The word that the kernel clears when the program's first thread ends or executes another
/// program; the mover's memory is then its alone.
std::int32_t* word_of_first_thread() {
    constexpr long get_tid_address = 40;  // PR_GET_TID_ADDRESS
    std::int32_t* found = nullptr;
    if (raw(SYS_prctl, get_tid_address, word(static_cast<void*>(&found))) == 0 && found != nullptr)
        return found;
    // A kernel without checkpoints does not tell; glibc keeps it in its control block.
    constexpr std::size_t control_block_words = 512;
    const long thread = raw(SYS_gettid);
    std::int32_t* block = nullptr;
    asm("movq %%fs:0, %0" : "=r"(block));
    for (std::size_t at = 0; at < control_block_words; ++at) {
        if (block[at] == thread)
            return &block[at];
    }
    return nullptr;
}

/// Whether the program goes on without its first thread.
bool goes_on_without_first() {
    wake_shared(first_thread);  // who joins that thread sleeps there too, and the kernel wakes one
    while (!program_has_ended()) {
        const FirstThread state = state_of_first(program_process);
        if (state != FirstThread::is_ending)
            return state == FirstThread::has_ended;
        rest(microsecond_ns * 100);
    }
    return false;
}

/// Whether another thread than the first, which had ended, executed another program in its place.
bool another_executes() {
    return !first_is_there && state_of_first(program_process) == FirstThread::runs;
}

/// False where nothing is to be moved any more.
bool wait_for_interval() {
    const std::uint64_t until_ns = now_ns() + settings().interval_ns;
    while (__atomic_load_n(&stops, __ATOMIC_ACQUIRE) == 0) {
        if (first_is_there && load(first_thread) == 0) {
            if (!goes_on_without_first())
                return false;
            first_is_there = false;
        }
        const std::uint64_t at_ns = now_ns();
        if (program_has_ended() || another_executes())
            return false;
        if (at_ns >= until_ns)
            return true;
        const std::uint64_t left_ns = until_ns - at_ns;
        if (first_is_there)
            wait_shared(first_thread, load(first_thread), left_ns);
        else
            rest(left_ns < longest_unseen_ns ? left_ns : longest_unseen_ns);
    }
    return false;
}

/// The mover has descriptors of its own from here on, none of them the program's.
void leave_descriptors() {
    constexpr long close_range = 436, all = 0xffffffff, unshare_first = 2;
    if (!failed(raw(close_range, 0, all, unshare_first)))
        return;
    raw(SYS_unshare, CLONE_FILES);  // before Linux 5.9
    constexpr long most = 65536;
    for (long file = 0; file < most; ++file)
        raw(SYS_close, file);
}

void run() {
    raw(SYS_prctl, PR_SET_NAME, word("layout"));
    leave_descriptors();
    while (wait_for_interval()) {
        if (!moving.try_take())
            continue;
        __atomic_store_n(&moves_now, 1, __ATOMIC_RELEASE);
        modules().move(program_process);
        __atomic_store_n(&moves_now, 0, __ATOMIC_RELEASE);
        moving.give();
    }
    raw(SYS_exit, 0);
}

// A system call has up to six arguments. NOLINTNEXTLINE(readability-function-size)
extern "C" long steelyard_layout_clone(unsigned long flags, void* stack_top, void* parent_word,
                                       void* child_word, void* thread_pointer, void (*entry)());
asm(R"(
.pushsection steelyard_text,"ax",@progbits
.type steelyard_layout_clone,@function
steelyard_layout_clone:
    movq %rcx, %r10
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

/// Whether there is one, and of this process: a child that libc does not know of has none.
bool has_mover() {
    return load(&mover_process) != 0 && raw(SYS_getpid) == program_process;
}

/// Whether it was started.
bool clone_mover() {
    if (stack == nullptr)
        stack = static_cast<std::uint8_t*>(map_pages(nullptr, stack_bytes, PROT_READ | PROT_WRITE));
    first_thread = word_of_first_thread();
    if (stack == nullptr || first_thread == nullptr)
        return false;
    tls[0] = reinterpret_cast<std::uint64_t>(tls);
    tls[2] = tls[0];
    first_is_there = load(first_thread) != 0;
    program_process = static_cast<std::int32_t>(raw(SYS_getpid));
    constexpr std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&all), word(&before), sizeof all);
    // No signal tells of its end, so a program that waits for any child does not see it. What
    // traces the program does not follow it.
    constexpr unsigned long flags = CLONE_VM | CLONE_SIGHAND | CLONE_FILES | CLONE_SETTLS |
                                    CLONE_UNTRACED | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    const long started = steelyard_layout_clone(flags, stack + stack_bytes, &mover_process,
                                                &mover_process, tls, run);
    raw(SYS_rt_sigprocmask, SIG_SETMASK, word(&before), 0, sizeof before);
    if (failed(started))
        return false;
    raw(SYS_prctl, PR_SET_PTRACER, started);  // so that it may see in which calls threads wait
    return true;
}

/// A stop that is meant for all of a group stops the mover too, and what lets the program alone go
/// on does not let it: whoever waits for it would wait for ever.
void let_mover_go_on() {
    const std::int32_t process = load(&mover_process);
    if (process != 0 && !calls_are_filtered())
        raw(SYS_kill, process, SIGCONT);
}

bool is_wanted() {
    return settings().interval_ns != 0 && modules().is_started();
}

}  // namespace

void start_mover() {
    if (is_wanted() && !clone_mover())
        fail("the process that moves functions cannot be started");
}

void stop_mover() {
    const std::int32_t process = load(&mover_process);
    // The child of a vfork has its parent's.
    if (process == 0 || raw(SYS_getpid) != program_process)
        return;
    __atomic_store_n(&stops, 1, __ATOMIC_RELEASE);
    constexpr unsigned turns_of_patience = 100;
    for (unsigned turn = 1; load(&mover_process) == process; ++turn) {
        if (turn % turns_of_patience == 0)
            let_mover_go_on();
        wake_shared(first_thread);
        wait_shared(&mover_process, process, microsecond_ns * 100);
    }
    raw(SYS_wait4, process, 0, __WCLONE, 0);
    if (mover_failure != nullptr)
        tell("functions stayed where they were at last: ", mover_failure);
}

void hold_moves() {
    while (!moving.take_within(lock_patience_ns)) {
        let_mover_go_on();
        const bool died = !has_mover() && __atomic_load_n(&moves_now, __ATOMIC_ACQUIRE) != 0;
        if (died) {
            __atomic_store_n(&moves_now, 0, __ATOMIC_RELEASE);
            moving.reset();
        }
    }
}

bool hold_moves_of_program() {
    if (!has_mover())
        return false;
    for (int attempt = 0; attempt < 10; ++attempt) {
        if (moving.take_within(lock_patience_ns))
            return true;
        let_mover_go_on();
    }
    return false;
}

void resume_moves() {
    moving.give();
}

void resume_moves_in_silence() {
    moving.reset();
}

void restart_mover_in_child() {
    moving.reset();
    moves_now = stops = 0;
    mover_process = 0;
    forget_threads_of_parent();
    // A filter of system calls may end what starts one: the child then keeps its layout.
    if (is_wanted() && !calls_are_filtered())
        clone_mover();
}

}  // namespace steelyard::layout

#include "threads.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "memory_map.hpp"
#include "modules.hpp"
#include "raw.hpp"
#include "waiting.hpp"

namespace steelyard::layout {

namespace {

// glibc keeps this signal for setuid(2) in programs with threads, never lets a program block it,
// and leaves it out of sigfillset(3). What is not ours goes on to its handler.
constexpr int round_signal = 33;
constexpr unsigned long restorer_flag = 0x04000000;  // SA_RESTORER, which libc's headers hide
constexpr std::uint64_t answer_timeout_ns = 200'000'000;

// A round's number in the upper half and the answers to it in the lower one, so that an answer that
// comes too late is never taken for one to the next round.
std::uint32_t answers = 0;
constexpr std::uint32_t one_round = 1U << 16U;
std::uint32_t answering = 0;  // threads that are just now in the handler
std::uint32_t is_incomplete = 0;
void (*libc_handler)(int, siginfo_t*, void*) = nullptr;
ThreadCounts counts{};

/// Notes what lies on this thread's stack; false where its extent is unknown. It reads between
/// variables too.
__attribute__((no_sanitize("address"))) bool note_own_stack(std::uint64_t stack_pointer,
                                                            std::uint64_t thread_pointer) {
    const std::uint64_t high = stack_end(stack_pointer, thread_pointer);
    if (high == 0)
        return false;
    for (std::uint64_t at = stack_pointer / 8 * 8; at + 8 <= high; at += 8)
        modules().note(*reinterpret_cast<const std::uint64_t*>(at));
    return true;
}

/// A system call of libc's that this very signal cut short goes on, as if nothing had happened;
/// SA_RESTART does not do that for those with a timeout.
void restart_interrupted_call(greg_t* registers) {
    constexpr greg_t interrupted = -4;
    const auto* next = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    if (registers[REG_RAX] != interrupted || next[-2] != 0x0f || next[-1] != 0x05 ||
        next[-7] != 0xb8)
        return;
    std::int32_t number = 0;
    __builtin_memcpy(&number, next - 6, sizeof number);
    registers[REG_RAX] = number;
    registers[REG_RIP] -= 2;
}

std::uint32_t this_round() {
    return __atomic_load_n(&answers, __ATOMIC_ACQUIRE) / one_round;
}

/// Counts an answer, as long as its round is still on.
void count_answer(std::uint32_t round) {
    std::uint32_t so_far = __atomic_load_n(&answers, __ATOMIC_RELAXED);
    while (so_far / one_round == round) {
        if (__atomic_compare_exchange_n(&answers, &so_far, so_far + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            break;
    }
    futex_wake(&answers);
}

void note_interrupted(const ucontext_t& context) {
    const greg_t* registers = context.uc_mcontext.gregs;
    std::uint64_t thread_pointer = 0;
    asm("movq %%fs:0, %0" : "=r"(thread_pointer));
    for (int index = 0; index <= REG_RIP; ++index)
        modules().note(static_cast<std::uint64_t>(registers[index]));
    const bool on_other_stack = (context.uc_stack.ss_flags & SS_ONSTACK) != 0;
    const auto stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
    if (on_other_stack || !note_own_stack(stack_pointer, thread_pointer))
        __atomic_store_n(&is_incomplete, 1, __ATOMIC_RELAXED);
}

void answer(int signal, siginfo_t* info, void* interrupted) {
    const std::uint64_t began_ns = now_ns();
    if (info->si_code != SI_QUEUE) {
        if (libc_handler != nullptr)
            libc_handler(signal, info, interrupted);
        return;
    }
    auto* context = static_cast<ucontext_t*>(interrupted);
    restart_interrupted_call(context->uc_mcontext.gregs);
    __atomic_fetch_add(&answering, 1, __ATOMIC_SEQ_CST);
    const auto asked = static_cast<std::uint32_t>(info->si_value.sival_int);
    const bool in_time = asked == this_round();
    if (in_time)
        note_interrupted(*context);
    __atomic_fetch_sub(&answering, 1, __ATOMIC_RELEASE);
    if (in_time)
        count_answer(asked);
    const std::uint64_t pause_ns = now_ns() - began_ns;
    __atomic_fetch_add(&counts.total_pause_ns, pause_ns, __ATOMIC_RELAXED);
    if (pause_ns > counts.longest_pause_ns)
        counts.longest_pause_ns = pause_ns;
}

/// The kernel's own structure, which libc's sigaction would not fill for this signal.
struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
};

extern "C" void steelyard_layout_sigreturn();
asm(R"(
.pushsection steelyard_text,"ax",@progbits
.type steelyard_layout_sigreturn,@function
steelyard_layout_sigreturn:
    movq $15, %rax
    syscall
.size steelyard_layout_sigreturn, .-steelyard_layout_sigreturn
.popsection
)");

/// glibc installs its handler with the first thread; ours goes before it.
void take_signal() {
    KernelAction now{};
    raw(SYS_rt_sigaction, round_signal, 0, word(&now), sizeof now.mask);
    if (now.handler == answer)
        return;
    if (now.handler != nullptr)
        libc_handler = now.handler;
    const KernelAction ours{answer, SA_SIGINFO | SA_RESTART | restorer_flag,
                            steelyard_layout_sigreturn, 0};
    raw(SYS_rt_sigaction, round_signal, word(&ours), 0, sizeof ours.mask);
}

bool ask(long process, long thread) {
    siginfo_t about{};
    about.si_code = SI_QUEUE;
    about.si_pid = static_cast<pid_t>(process);
    about.si_value.sival_int = static_cast<int>(this_round());
    return !failed(raw(SYS_rt_tgsigqueueinfo, process, thread, round_signal, word(&about)));
}

bool wait_for_answers(std::uint32_t wanted) {
    const std::uint64_t until_ns = now_ns() + answer_timeout_ns;
    while (true) {
        const std::uint32_t so_far = __atomic_load_n(&answers, __ATOMIC_ACQUIRE);
        if (so_far % one_round >= wanted)
            return true;
        const std::uint64_t at_ns = now_ns();
        if (at_ns >= until_ns)
            return false;
        futex_wait(&answers, so_far, until_ns - at_ns);
    }
}

/// The start of a linux_dirent64; its name follows.
struct Entry {
    std::uint64_t inode, offset;
    std::uint16_t size;
    std::uint8_t type;
};
constexpr long entry_name_offset = 19;

/// Calls `visit` with every thread but the calling one; false where they cannot be listed.
template <typename Visit>
bool for_each_thread(Visit visit) {
    const long folder = raw(SYS_open, word("/proc/self/task"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (failed(folder))
        return false;
    const long self = raw(SYS_gettid);
    alignas(8) char buffer[4096] = {};
    long count = 0;
    while ((count = raw(SYS_getdents64, folder, word(buffer), sizeof buffer)) > 0) {
        for (long at = 0; at < count;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
            long thread = 0;
            for (const char* digit = buffer + at + entry_name_offset;
                 *digit >= '0' && *digit <= '9'; ++digit)
                thread = thread * 10 + (*digit - '0');
            if (thread != 0 && thread != self)
                visit(thread);
            at += entry->size;
        }
    }
    raw(SYS_close, folder);
    return count == 0;
}

}  // namespace

const ThreadCounts& thread_counts() {
    return counts;
}

void prepare_rounds() {
    prepare_memory_map();
    prepare_waiting();
}

void forget_threads_of_parent() {
    __atomic_store_n(&answering, 0, __ATOMIC_RELAXED);
}

bool note_all_threads() {
    take_signal();
    if (!read_memory_map())
        return false;
    __atomic_store_n(&is_incomplete, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&answers, (this_round() + 1) * one_round, __ATOMIC_RELEASE);
    const long process = raw(SYS_getpid);
    const long memory = raw(SYS_open, word("/proc/self/mem"), O_RDONLY | O_CLOEXEC);
    std::uint32_t asked = 0;
    bool complete = true;
    const bool listed = for_each_thread([&](long thread) {
        const Seen seen = note_waiting(memory, thread);
        if (seen == Seen::incomplete)
            complete = false;
        if (seen == Seen::runs && !is_ending(thread) && ask(process, thread))
            ++asked;
    });
    if (!failed(memory))
        raw(SYS_close, memory);
    counts.interruptions += asked;
    // One that answers late may still look into generations that are about to be freed.
    return listed && wait_for_answers(asked) && complete &&
           __atomic_load_n(&answering, __ATOMIC_SEQ_CST) == 0 &&
           __atomic_load_n(&is_incomplete, __ATOMIC_RELAXED) == 0;
}

}  // namespace steelyard::layout

#include "threads.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "homes.hpp"
#include "memory_map.hpp"
#include "modules.hpp"
#include "process_files.hpp"
#include "raw.hpp"
#include "system_calls.hpp"
#include "waiting.hpp"

namespace steelyard::layout {

namespace {

// glibc keeps this signal for setuid(2) in programs with threads, never lets a program block it,
// and leaves it out of sigfillset(3). What is not ours goes on to its handler.
constexpr int round_signal = 33;
constexpr unsigned long restorer_flag = 0x04000000;  // SA_RESTORER, which libc's headers hide
constexpr std::uint64_t answer_timeout_ns = 200'000'000;
// Between looks whether all have answered; it doubles up to the longest.
constexpr std::uint64_t first_rest_ns = 10'000, longest_rest_ns = 500'000;

// A round's number in the upper half and the answers to it in the lower one, so that an answer that
// comes too late is never taken for one to the next round.
std::uint32_t answers = 0;
constexpr std::uint32_t one_round = 1U << 16U;
std::uint32_t answering = 0;  // threads that are just now in the handler
std::uint32_t is_incomplete = 0;
void (*libc_handler)(int, siginfo_t*, void*) = nullptr;
ThreadCounts counts{};

/// Notes what lies on a stack of this thread; the lowest of what points into `home`, or its end.
/// It reads between variables too.
__attribute__((no_sanitize("address"))) std::uint64_t note_stack(std::uint64_t low,
                                                                 std::uint64_t high,
                                                                 const Region& home) {
    std::uint64_t lowest = home.high;
    for (std::uint64_t at = low / 8 * 8; at + 8 <= high; at += 8) {
        const std::uint64_t value = *reinterpret_cast<const std::uint64_t*>(at);
        // The lowest address itself is left on stacks by these very searches.
        if (!modules().note(value) && value > home.low && value < lowest)
            lowest = value;
    }
    return lowest;
}

/// Notes the stacks of this thread, which is on another than its own: a signal's, or one that the
/// program switched to by itself. False where their extent is unknown.
bool note_both_stacks(const stack_t& alternate, std::uint64_t stack_pointer, const Region& home) {
    const auto low = reinterpret_cast<std::uint64_t>(alternate.ss_sp);
    const bool on_alternate = stack_pointer >= low && stack_pointer - low < alternate.ss_size;
    const Region* region = region_of(stack_pointer);
    if (!on_alternate)
        modules().search_memory();
    if (region == nullptr)
        return false;
    std::uint64_t high = on_alternate ? low + alternate.ss_size : region->high;
    // What lies beyond on a stack of unknown size, the search of all memory finds.
    constexpr std::uint64_t most_bytes = 1U << 20U;
    if (!on_alternate && high - stack_pointer > most_bytes)
        high = stack_pointer + most_bytes;
    if (high > region->high)
        return false;
    const std::uint64_t lowest = note_stack(stack_pointer, high, home);
    note_stack(lowest == home.high ? home.low : lowest, home.high, home);
    return true;
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
}

void note_interrupted(const ucontext_t& context) {
    const greg_t* registers = context.uc_mcontext.gregs;
    std::uint64_t thread_pointer = 0;
    asm("movq %%fs:0, %0" : "=r"(thread_pointer));
    for (int index = 0; index <= REG_RIP; ++index)
        modules().note(static_cast<std::uint64_t>(registers[index]));
    const auto stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
    const Region home = home_of(thread_pointer);
    remember_home(thread_pointer);
    bool complete = home.high != 0;
    if (stack_pointer >= home.low && stack_pointer < home.high)
        note_stack(stack_pointer, home.high, home);
    else if (complete)
        complete = note_both_stacks(context.uc_stack, stack_pointer, home);
    if (!complete)
        __atomic_store_n(&is_incomplete, 1, __ATOMIC_RELAXED);
}

void answer(int signal, siginfo_t* info, void* interrupted) {
    if (info->si_code != SI_QUEUE) {
        if (libc_handler != nullptr)
            libc_handler(signal, info, interrupted);
        return;
    }
    const std::uint64_t began_ns = now_ns();
    auto* context = static_cast<ucontext_t*>(interrupted);
    restart_interrupted_call(*context);
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

/// glibc installs its handler with the first thread; ours goes before it. No other is handled
/// meanwhile, so that what waits can be seen.
void take_signal() {
    KernelAction now{};
    raw(SYS_rt_sigaction, round_signal, 0, word(&now), sizeof now.mask);
    if (now.handler == answer)
        return;
    if (now.handler != nullptr)
        libc_handler = now.handler;
    constexpr unsigned long all = ~0UL;
    const KernelAction ours{answer, SA_SIGINFO | SA_RESTART | restorer_flag,
                            steelyard_layout_sigreturn, all};
    raw(SYS_rt_sigaction, round_signal, word(&ours), 0, sizeof ours.mask);
}

bool ask(long process, long thread) {
    siginfo_t about{};
    about.si_code = SI_QUEUE;
    about.si_pid = static_cast<pid_t>(process);
    about.si_value.sival_int = static_cast<int>(this_round());
    return !failed(raw(SYS_rt_tgsigqueueinfo, process, thread, round_signal, word(&about)));
}

/// The threads wake nobody: a system call of theirs could be one that a filter forbids.
bool wait_for_answers(std::uint32_t wanted) {
    const std::uint64_t until_ns = now_ns() + answer_timeout_ns;
    std::uint64_t rest_ns = first_rest_ns;
    while (__atomic_load_n(&answers, __ATOMIC_ACQUIRE) % one_round < wanted) {
        if (now_ns() >= until_ns)
            return false;
        rest(rest_ns);
        rest_ns = rest_ns * 2 < longest_rest_ns ? rest_ns * 2 : longest_rest_ns;
    }
    return true;
}

/// The start of a linux_dirent64; its name follows.
struct Entry {
    std::uint64_t inode, offset;
    std::uint16_t size;
    std::uint8_t type;
};
constexpr long entry_name_offset = 19;

/// Calls `visit` with every thread of a process but the calling one; false where they cannot be
/// listed.
template <typename Visit>
bool for_each_thread(long process, Visit visit) {
    const long folder = open_threads(process);
    if (failed(folder))
        return false;
    const long self = raw(SYS_gettid);
    alignas(8) char buffer[4096] = {};
    long count = 0;
    while ((count = raw(SYS_getdents64, folder, word(buffer), sizeof buffer)) > 0) {
        for (long at = 0; at < count;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
            const char* name = buffer + at + entry_name_offset;
            const auto thread = static_cast<long>(decimal(name));
            if (thread != 0 && thread != self)
                visit(thread);
            at += entry->size;
        }
    }
    raw(SYS_close, folder);
    return count == 0;
}

/// One search of all threads: how many were asked, and whether the others were read.
class Search {
  public:
    explicit Search(long process) : process_(process) {
        memory_ = raw(SYS_open, word("/proc/self/mem"), O_RDONLY | O_CLOEXEC);
    }
    ~Search() {
        if (!failed(memory_))
            raw(SYS_close, memory_);
    }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    void look_at(long thread) {
        if (note_waiting(process_, memory_, thread) || is_ending(process_, thread))
            return;
        if (calls_are_filtered() || is_filtered(process_, thread)) {
            note_filter();
            complete_ = false;
        } else if (ask(process_, thread)) {
            ++asked_;
        } else {
            complete_ &= is_ending(process_, thread);
        }
    }
    std::uint32_t asked() const { return asked_; }
    bool is_complete() const { return complete_; }

  private:
    long process_, memory_;
    std::uint32_t asked_ = 0;
    bool complete_ = true;
};

}  // namespace

const ThreadCounts& thread_counts() {
    return counts;
}

void prepare_rounds() {
    prepare_memory_map();
    prepare_homes();
}

void forget_threads_of_parent() {
    __atomic_store_n(&answering, 0, __ATOMIC_RELAXED);
}

bool note_all_threads(long process) {
    take_signal();
    if (!numbers_agree(process) || !read_memory_map())
        return false;
    __atomic_store_n(&is_incomplete, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&answers, (this_round() + 1) * one_round, __ATOMIC_RELEASE);
    Search search(process);
    const bool listed = for_each_thread(process, [&](long thread) { search.look_at(thread); });
    counts.interruptions += search.asked();
    // One that answers late may still look into generations that are about to be freed.
    return listed && wait_for_answers(search.asked()) && search.is_complete() &&
           __atomic_load_n(&answering, __ATOMIC_SEQ_CST) == 0 &&
           __atomic_load_n(&is_incomplete, __ATOMIC_RELAXED) == 0;
}

}  // namespace steelyard::layout

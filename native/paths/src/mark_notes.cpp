// Within a program with marked calls: samples its threads, with the value that each carries. Loaded
// by LD_PRELOAD; STEELYARD_MARKS names the ring. Each thread has an event of the kernel of its own,
// which sends a signal to it at random times of its processor time in user mode, and is closed by
// `exec`.

#include "mark_notes.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "mark_ring.hpp"

// Where the stack of the first thread began (glibc).
extern "C" void* __libc_stack_end;  // NOLINT

namespace steelyard {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
// What comes sooner finds the program where it was.
constexpr std::uint64_t nearest_ns = 20'000;
// Programs expect the lowest numbers of files.
constexpr int first_file = 512;
constexpr std::size_t page_bytes = 4096;
// A stack without a limit is taken to be so long at most.
constexpr std::uint64_t longest_stack_bytes = 1ULL << 32U;

struct ThreadSamples {
    int file;
    void* page;  ///< keeps the event where the program closes the file
    std::uint64_t stack_low, stack_high;
    std::uint64_t draw;
};

MarkRing* ring;
std::span<MarkRecord> records;
pthread_key_t ending;
std::atomic<bool> switches_stacks;
std::atomic<std::uint64_t> thread_count;
__thread ThreadSamples own{-1, nullptr, 0, 0, 0};

std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * second_ns +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// xorshift64* (S. Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016).
std::uint64_t random_bits() {
    own.draw ^= own.draw >> 12U;
    own.draw ^= own.draw << 25U;
    own.draw ^= own.draw >> 27U;
    return own.draw * 0x2545f4914f6cdd1dU;
}

std::uint64_t next_ns() {
    constexpr double places = 1ULL << 53U;
    const double share = static_cast<double>(random_bits() >> 11U) / places;
    const auto period = static_cast<double>(ring->period_ns);
    const double low =
        std::max(period * (1 - ring->ratio), std::min(static_cast<double>(nearest_ns), period / 2));
    // As long below the period as above it, so that it stays the mean.
    return static_cast<std::uint64_t>(low + share * 2 * (period - low));
}

std::uint64_t carried() {
    std::uint64_t value = 0;
    __asm__ volatile("movq %%fs:%c1, %0" : "=r"(value) : "i"(mark_value_at));
    return value;
}

void carry(std::uint64_t value) {
    __asm__ volatile("movq %0, %%fs:%c1" : : "r"(value), "i"(mark_value_at));
}

void write_record(const ucontext_t& context) {
    const auto at = [&](int number) {
        return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]);
    };
    const std::uint64_t stack = at(REG_RSP);
    const bool is_apart = (context.uc_stack.ss_flags & SS_ONSTACK) != 0;
    if (!is_apart && (stack < own.stack_low || stack > own.stack_high))
        switches_stacks = true;
    const std::uint64_t number = ring->taken.fetch_add(1);
    MarkRecord& record = records[number % mark_ring_places];
    record.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    record.time_ns = clock_ns(CLOCK_MONOTONIC);
    record.address = at(REG_RIP);
    record.stack_pointer = stack;
    record.frame_pointer = at(REG_RBP);
    record.value = switches_stacks ? unknown_mark : carried();
    record.process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    record.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    unsigned cpu = 0;
    getcpu(&cpu, nullptr);
    record.cpu = cpu;
    record.number.store(number + 1, std::memory_order_release);
}

void take_sample(int /*signal*/, siginfo_t* /*information*/, void* context) {
    const int error = errno;
    if (own.file >= 0) {
        write_record(*static_cast<const ucontext_t*>(context));
        std::uint64_t interval = next_ns();
        ioctl(own.file, PERF_EVENT_IOC_PERIOD, &interval);
    }
    errno = error;
}

int open_event(std::uint64_t first_ns) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = first_ns;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.disabled = 1;
    attributes.wakeup_events = 1;
    attributes.remove_on_exec = 1;
    const auto open = [&] {
        return static_cast<int>(
            syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    };
    int file = open();
    if (file < 0 && (errno == EINVAL || errno == E2BIG)) {
        // Before Linux 5.13.
        attributes.remove_on_exec = 0;
        file = open();
    }
    return file;
}

/// Whether the event sends its signal to this thread.
bool send_here(int file) {
    f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
    return fcntl(file, F_SETOWN_EX, &owner) == 0 && fcntl(file, F_SETSIG, mark_signal) == 0 &&
           fcntl(file, F_SETFL, O_ASYNC) == 0 && ioctl(file, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

void sample_thread() {
    ring->before_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
    own.draw = (ring->seed + 0x9e3779b97f4a7c15U * (thread_count.fetch_add(1) + 1)) | 1U;
    random_bits();
    int file = open_event(next_ns());
    if (file >= 0) {
        const int high = fcntl(file, F_DUPFD_CLOEXEC, first_file);
        if (high >= 0) {
            close(file);
            file = high;
        }
    }
    own.file = file;
    void* const page =
        file < 0 ? MAP_FAILED : mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file, 0);
    own.page = page == MAP_FAILED ? nullptr : page;
    if (file < 0 || !send_here(file)) {
        ring->error = static_cast<std::uint64_t>(errno);
        ring->unwatched += 1;
    }
}

void unblock_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, mark_signal);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, nullptr, sizeof(std::uint64_t));
}

void end_thread(void* /*set*/) {
    const int file = own.file;
    own.file = -1;
    if (own.page != nullptr)
        munmap(own.page, page_bytes);
    if (file >= 0)
        close(file);
}

/// The child of a fork has its parent's file, whose event is of the parent, but not the page.
void begin_child() {
    if (own.file >= 0)
        close(own.file);
    sample_thread();
}

void find_first_stack() {
    rlimit stack{};
    getrlimit(RLIMIT_STACK, &stack);
    const std::uint64_t bytes = std::min<std::uint64_t>(stack.rlim_cur, longest_stack_bytes);
    own.stack_high = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    own.stack_low = own.stack_high - bytes;
}

void find_stack() {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    own.stack_low = reinterpret_cast<std::uint64_t>(low);
    own.stack_high = own.stack_low + bytes;
}

MarkRing* mapped_ring(const char* path) {
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat status{};
    if (file < 0 || fstat(file, &status) != 0 ||
        static_cast<std::uint64_t>(status.st_size) < mark_ring_bytes)
        return nullptr;
    void* const memory =
        mmap(nullptr, mark_ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    auto* const found = static_cast<MarkRing*>(memory);
    return memory == MAP_FAILED || found->magic != mark_ring_magic ? nullptr : found;
}

bool handle_signal() {
    struct sigaction action{};
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    return next_sigaction()(mark_signal, &action, nullptr) == 0;
}

[[gnu::constructor]] void begin() {
    const char* const path = std::getenv("STEELYARD_MARKS");
    ring = path == nullptr ? nullptr : mapped_ring(path);
    if (ring == nullptr)
        return;
    ring->programs += 1;
    records = {reinterpret_cast<MarkRecord*>(ring + 1), mark_ring_places};
    carry_through_exceptions();
    pthread_key_create(&ending, end_thread);
    pthread_atfork(nullptr, nullptr, begin_child);
    find_first_stack();
    unblock_signal();
    if (handle_signal())
        sample_thread();
}

}  // namespace

bool takes_samples() {
    return ring != nullptr;
}

void note_taken_signal() {
    if (ring != nullptr)
        ring->took_signal = 1;
}

void note_stack_switch() {
    switches_stacks = true;
}

std::uint64_t carried_value() {
    return carried();
}

void carry_value(std::uint64_t value) {
    carry(value);
}

}  // namespace steelyard

/// Called by what notes the stacks of threads, before the function of a thread begins.
extern "C" __attribute__((visibility("default"))) void steelyard_marks_begin_thread() {
    using namespace steelyard;
    if (ring == nullptr)
        return;
    // The block of a thread may be one that another had.
    carry(0);
    carry_through_exceptions();
    find_stack();
    unblock_signal();
    pthread_setspecific(ending, ring);
    sample_thread();
}

// Within a program: notes each entry of a function with the path to it, by where the stack pointer
// is. Frames whose entry lay below it are gone, however they were left: returned from, thrown
// through or jumped out of. Loaded by LD_PRELOAD; STEELYARD_PATHS_PLAN names the plan and
// STEELYARD_PATHS_FOLDER where trees go.

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ranges>
#include <span>

#include "patching.hpp"
#include "path_tree.hpp"
#include "plan.hpp"
#include "stack_walk.hpp"

// Where the stack of the first thread began (glibc).
extern "C" void* __libc_stack_end;  // NOLINT

namespace steelyard {

namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);
constexpr std::size_t own_stack_bytes = 1U << 18U, longest_path = 4096;
constexpr std::size_t most_frames = 1U << 24U;
constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

struct Frame {
    std::uint64_t entry_stack;
    std::uint32_t function, node;
    bool seen;       ///< its entry was: nothing else can be there
    bool elsewhere;  ///< on another stack than the one whose beginning is known
};

struct Thread {
    PathTree tree;
    Frame* frames;
    std::size_t depth;
    std::uint64_t start;       ///< where the stack begins
    std::uint64_t at_work_at;  ///< the stack of the entry that is being noted; 0: none
    std::byte* own_stack;
};

struct Program {
    std::span<const PlannedFunction> functions;
    std::span<const CallSite> call_sites;
    std::uint64_t bias = 0;
    char folder[longest_path] = {};
    pthread_key_t key = 0;
    std::atomic<bool> walking = false;
    std::atomic<std::uint32_t> files = 0;
};

Program program;
__thread Thread* thread;
__thread bool has_ended;

char* put_number(char* to, std::uint64_t number) {
    char digits[24];
    int count = 0;
    do
        digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

char* put_text(char* to, const char* text) {
    while (*text != 0)
        *to++ = *text++;
    return to;
}

/// FOLDER/PROCESS-NUMBER
void new_path(char* to, std::uint32_t process) {
    to = put_text(put_text(to, program.folder), "/");
    to = put_number(to, process);
    *to++ = '-';
    to = put_number(to, program.files.fetch_add(1));
    *to = 0;
}

Thread* new_thread() {
    constexpr std::size_t frames_bytes = most_frames * sizeof(Frame);
    constexpr std::size_t bytes = own_stack_bytes + sizeof(Thread);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, private_memory, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    auto* const made = reinterpret_cast<Thread*>(static_cast<std::byte*>(memory) + own_stack_bytes);
    made->own_stack = static_cast<std::byte*>(memory) + own_stack_bytes;
    void* const frames = mmap(nullptr, frames_bytes, PROT_READ | PROT_WRITE, private_memory, -1, 0);
    char path[longest_path + 64];
    const auto process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    new_path(path, process);
    if (frames == MAP_FAILED ||
        !made->tree.open(path, process, static_cast<std::uint32_t>(syscall(SYS_gettid))))
        return nullptr;
    made->frames = static_cast<Frame*>(frames);
    return made;
}

const CallSite* call_site_of(std::uint64_t return_address) {
    const std::uint64_t places = program.call_sites.size();
    std::uint64_t at = call_site_place(return_address, places);
    for (; program.call_sites[at].return_address != 0; at = (at + 1) & (places - 1)) {
        if (program.call_sites[at].return_address == return_address)
            return &program.call_sites[at];
    }
    return nullptr;
}

void push(Thread& own, const Frame& entered) {
    const std::uint32_t parent = own.depth == 0 ? 0 : own.frames[own.depth - 1].node;
    const std::uint64_t height = entered.elsewhere ? 0 : own.start - entered.entry_stack - word;
    const std::uint32_t node = own.tree.child(parent, entered.function, height);
    if (node == no_node || own.depth == most_frames) {
        own.tree.header().lost += 1;
        return;
    }
    own.frames[own.depth] = entered;
    own.frames[own.depth++].node = node;
    if (entered.seen)
        own.tree.count(node);
}

bool is_on_stack(const Activation& activation) {
    for (std::size_t index = thread->depth; index > 0; --index) {
        const Frame& frame = thread->frames[index - 1];
        if (frame.entry_stack >= activation.entry_stack)
            return frame.entry_stack == activation.entry_stack &&
                   frame.function == activation.function && frame.seen;
    }
    return false;
}

/// glibc's first function pushes a few words before it calls.
std::uint64_t start_from(std::uint64_t outermost_stack) {
    constexpr std::uint64_t pushed_bytes = 128;
    const auto first = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    return first - outermost_stack <= pushed_bytes ? first : outermost_stack;
}

void end_thread(void* ended) {
    auto* const own = static_cast<Thread*>(ended);
    has_ended = true;
    thread = nullptr;
    own->tree.close();
    munmap(own->frames, most_frames * sizeof(Frame));
    munmap(own->own_stack - own_stack_bytes, own_stack_bytes + sizeof(Thread));
}

void after_fork() {
    program.walking = false;
    if (thread == nullptr)
        return;
    char path[longest_path + 64];
    const auto process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    new_path(path, process);
    if (!thread->tree.reopen(path, process, process))
        thread = nullptr;
}

}  // namespace

/// What the stack walk needs of the interrupted function: registers that calls keep.
struct KeptRegisters {
    std::uint64_t r15, r14, r13, r12, rbp, rbx;
};

extern "C" {

/// Notes the entry of a function; where the stack has to be walked for that, gives where the walk
/// has its own stack.
__attribute__((used)) std::byte* steelyard_entered(std::uint32_t function, std::uint64_t* entry,
                                                   std::uint64_t frame_pointer) {
    if (thread == nullptr && !has_ended)
        thread = new_thread();
    if (thread == nullptr)
        return nullptr;
    Thread& own = *thread;
    const auto entry_stack = reinterpret_cast<std::uint64_t>(entry);
    if (own.at_work_at != 0 && entry_stack < own.at_work_at) {
        own.tree.header().lost += 1;
        return nullptr;
    }
    own.at_work_at = entry_stack;
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack <= entry_stack)
        --own.depth;
    const CallSite* const site = call_site_of(*entry - program.bias);
    if (site == nullptr || site->frame == CallSite::Frame::none)
        return own.own_stack;
    const bool by_stack = site->frame == CallSite::Frame::by_stack_pointer;
    const std::uint64_t caller =
        (by_stack ? entry_stack : frame_pointer) + static_cast<std::uint64_t>(site->distance);
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack < caller)
        --own.depth;
    if (own.depth == 0)
        return own.own_stack;
    const Frame& top = own.frames[own.depth - 1];
    if (top.entry_stack != caller || top.function != site->function || !top.seen)
        return own.own_stack;
    push(own, {entry_stack, function, 0, true, top.elsewhere});
    own.at_work_at = 0;
    return nullptr;
}

__attribute__((used)) void steelyard_entered_from_afar(std::uint32_t function, std::uint64_t* entry,
                                                       const KeptRegisters* kept) {
    const int error = errno;
    Thread& own = *thread;
    if (pthread_getspecific(program.key) == nullptr)
        pthread_setspecific(program.key, &own);
    const auto entry_stack = reinterpret_cast<std::uint64_t>(entry);
    Registers registers{};
    registers[3] = kept->rbx;
    registers[frame_register] = kept->rbp;
    registers[12] = kept->r12;
    registers[13] = kept->r13;
    registers[14] = kept->r14;
    registers[15] = kept->r15;
    registers[stack_register] = entry_stack + word;
    registers[address_register] = *entry;
    while (program.walking.exchange(true))
        sched_yield();
    const Walk walk = walk_stack(registers, program.functions, program.bias, is_on_stack);
    program.walking = false;
    if (walk.start)
        own.start = start_from(*walk.start);
    if (!walk.start && !walk.known)
        own.tree.header().guessed += 1;
    // What was walked to its start has nothing of the program above it but what was found.
    std::uint64_t outermost = entry_stack;
    if (walk.start)
        outermost = UINT64_MAX;
    else if (walk.known)
        outermost = walk.known->entry_stack - 1;
    else if (!walk.activations.empty())
        outermost = walk.activations.back().entry_stack;
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack <= outermost)
        --own.depth;
    const bool known_elsewhere = walk.known && own.depth > 0 && own.frames[own.depth - 1].elsewhere;
    for (const Activation& activation : std::views::reverse(walk.activations))
        push(own, {activation.entry_stack, activation.function, 0, false,
                   known_elsewhere || activation.stack != walk.last_stack});
    push(own, {entry_stack, function, 0, true, known_elsewhere || walk.last_stack != 0});
    own.at_work_at = 0;
    errno = error;
}

void steelyard_entry();
}

// Keeps every register that a call may change, also those of arguments and those that -fipa-ra
// relies on. 0xe7 are the vector registers (Intel SDM volume 1, 13.1).
__asm__(R"(
    .text
    .globl steelyard_entry
    .hidden steelyard_entry
    .type steelyard_entry, @function
steelyard_entry:
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %r8
    push %r9
    push %r10
    push %r11
    push %rax
    mov %eax, %edi
    lea 88(%rsp), %rsi
    mov %rbp, %rdx
    push %rbp
    mov %rsp, %rbp
    and $-16, %rsp
    call steelyard_entered
    mov %rbp, %rsp
    pop %rbp
    test %rax, %rax
    jnz 1f
0:  pop %rax
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    ret
1:  mov (%rsp), %edi
    lea 88(%rsp), %rsi
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, %rdx
    mov %rsp, %rbx
    lea -4096(%rax), %rsp
    and $-64, %rsp
    mov %rdx, %r12
    xor %eax, %eax
    mov %rax, 512(%rsp)
    mov %rax, 520(%rsp)
    mov %rax, 528(%rsp)
    mov %rax, 536(%rsp)
    mov %rax, 544(%rsp)
    mov %rax, 552(%rsp)
    mov %rax, 560(%rsp)
    mov %rax, 568(%rsp)
    mov $0xe7, %eax
    xor %edx, %edx
    xsave (%rsp)
    mov %r12, %rdx
    call steelyard_entered_from_afar
    mov $0xe7, %eax
    xor %edx, %edx
    xrstor (%rsp)
    mov %rbx, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    jmp 0b
    .size steelyard_entry, .-steelyard_entry
)");

namespace {

bool is_planned_program(const PlanHeader& plan) {
    struct stat status{};
    constexpr std::uint64_t second_ns = 1'000'000'000;
    return stat("/proc/self/exe", &status) == 0 && status.st_dev == plan.device &&
           status.st_ino == plan.inode &&
           static_cast<std::uint64_t>(status.st_size) == plan.bytes &&
           static_cast<std::uint64_t>(status.st_mtim.tv_sec) * second_ns +
                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec) ==
               plan.modified_ns;
}

std::uint64_t bias_of_program() {
    std::uint64_t bias = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
            *static_cast<std::uint64_t*>(found) = info->dlpi_addr;
            return 1;
        },
        &bias);
    return bias;
}

/// The first word of the file `ready` in the folder tells that the program is watched.
void tell_ready() {
    char path[longest_path + 64];
    *put_text(put_text(path, program.folder), "/ready") = 0;
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

[[gnu::constructor]] void begin() {
    const char* const plan_path = std::getenv("STEELYARD_PATHS_PLAN");
    const char* const folder = std::getenv("STEELYARD_PATHS_FOLDER");
    if (plan_path == nullptr || folder == nullptr || std::strlen(folder) >= longest_path)
        return;
    const int file = open(plan_path, O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file < 0 || fstat(file, &status) != 0)
        return;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    const void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    const auto* const plan = static_cast<const PlanHeader*>(memory);
    if (memory == MAP_FAILED || bytes < sizeof *plan || plan->magic != plan_magic ||
        !is_planned_program(*plan))
        return;
    *put_text(program.folder, folder) = 0;
    const auto* const functions = reinterpret_cast<const PlannedFunction*>(plan + 1);
    program.functions = {functions, plan->function_count};
    program.call_sites = {reinterpret_cast<const CallSite*>(functions + plan->function_count),
                          plan->call_site_places};
    program.bias = bias_of_program();
    pthread_key_create(&program.key, end_thread);
    pthread_atfork(nullptr, nullptr, after_fork);
    if (patch_entries(program.functions, plan->image_end, program.bias, steelyard_entry))
        tell_ready();
}

}  // namespace

}  // namespace steelyard

// Within a program: notes each entry of a function with the path to it, by where the stack pointer
// is. Frames whose entry lay below it are gone, however they were left: returned from, thrown
// through or jumped out of. Loaded by LD_PRELOAD; STEELYARD_PATHS_PLAN names the plan and
// STEELYARD_PATHS_FOLDER where trees go. With STEELYARD_PATHS_CALL_SITES paths differ by the calls
// that led from function to function, too.

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ranges>
#include <span>

#include "noted_entries.hpp"
#include "patching.hpp"
#include "plan.hpp"
#include "recorded_thread.hpp"
#include "stack_walk.hpp"

// Where the stack of the first thread began (glibc).
extern "C" void* __libc_stack_end;  // NOLINT

namespace steelyard {

namespace {

bool is_on_stack(const Activation& activation) {
    for (std::size_t index = thread->depth; index > 0; --index) {
        const Frame& frame = thread->frames[index - 1];
        if (frame.entry_stack >= activation.entry_stack)
            return is_at(*thread, frame, activation.entry_stack, activation.function);
    }
    return false;
}

void remember(RememberedWalks& walks, const Walk& walk, const Entry& entry) {
    RememberedWalk* const place = walks.place_for(entry);
    place->entry.stack = 0;
    if (!walk.known || !walk.rests_on_words || walk.last_stack != 0 ||
        walk.words.size() > most_read_words || walk.activations.size() > most_activations)
        return;
    std::ranges::copy(walk.words, place->words.begin());
    place->word_count = static_cast<std::uint32_t>(walk.words.size());
    for (std::size_t index = 0; index < walk.activations.size(); ++index)
        place->activations[index] = {walk.activations[index].entry_stack,
                                     walk.activations[index].function,
                                     walk.activations[index].call_site};
    place->activation_count = static_cast<std::uint32_t>(walk.activations.size());
    place->known_stack = walk.known->entry_stack;
    place->known_function = walk.known->function;
    place->call_site = walk.call_site;
    place->uses_frame_pointer = walk.uses_frame_pointer;
    place->entry = entry;
}

/// glibc's first function pushes a few words before it calls.
std::uint64_t start_from(std::uint64_t outermost_stack) {
    constexpr std::uint64_t pushed_bytes = 128;
    const auto first = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    return first - outermost_stack <= pushed_bytes ? first : outermost_stack;
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
    // A signal may come while a stack is walked, whose own stack may lie above this one.
    const auto walking = reinterpret_cast<std::uint64_t>(own.own_stack);
    const bool interrupts_walk = entry_stack < walking && entry_stack >= walking - own_stack_bytes;
    if (own.at_work_at != 0 && (entry_stack < own.at_work_at || interrupts_walk)) {
        own.tree.header().lost += 1;
        return nullptr;
    }
    own.at_work_at = entry_stack;
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack <= entry_stack)
        --own.depth;
    if (note_entry(own, function, {entry_stack, *entry, frame_pointer})) {
        own.at_work_at = 0;
        return nullptr;
    }
    return own.own_stack;
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
    const std::uint64_t start = walk.start ? start_from(*walk.start) : own.start;
    if (start != own.start)
        own.forget_entries();
    own.start = start;
    own.tree.note_start(start);
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
    for (const LibraryStep& step : walk.steps)
        own.steps.remember(step);
    remember(own.walks, walk, {entry_stack, *entry, kept->rbp});
    const std::uint32_t known_elsewhere =
        walk.known && own.depth > 0 ? own.frames[own.depth - 1].kind & Frame::elsewhere : 0;
    const auto elsewhere = [&](std::uint32_t stack) {
        return stack == walk.last_stack ? known_elsewhere : std::uint32_t{Frame::elsewhere};
    };
    for (const Activation& activation : std::views::reverse(walk.activations))
        push(own, activation.function, activation.entry_stack, elsewhere(activation.stack),
             activation.call_site);
    push(own, function, entry_stack, Frame::seen | elsewhere(0), walk.call_site);
    own.at_work_at = 0;
    errno = error;
}

void steelyard_entry();
}

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
    program.kept_sites = std::getenv("STEELYARD_PATHS_CALL_SITES") == nullptr ? 0 : UINT64_MAX;
    pthread_key_create(&program.key, end_thread);
    pthread_atfork(nullptr, nullptr, after_fork);
    if (patch_entries(program.functions, plan->image_end, program.bias, steelyard_entry))
        tell_ready();
}

}  // namespace

}  // namespace steelyard

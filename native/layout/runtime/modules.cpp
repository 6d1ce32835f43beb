#include "modules.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <new>

#include "foreign_code.hpp"
#include "memory_search.hpp"
#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "surroundings.hpp"
#include "threads.hpp"

// The linker's name for the start of the program's image.
extern "C" const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

namespace steelyard::layout {

namespace {

constexpr int most_rounds = 8;
constexpr const char* own_file = "/proc/self/exe";
// Streams of randomness that do not shift one another, of each module by its number.
enum Stream : std::uint64_t { code_stream = 1, stack_stream = 2 };
constexpr unsigned stream_bit = 56, module_bit = 32;

Modules all;

Random stream(Stream which, const Module& module) {
    return Random(settings().seed ^ (which << stream_bit) ^
                  (std::uint64_t{module.number} << module_bit));
}

/// Every thread executes a serialising instruction before it goes on in user mode.
void serialise_all_cores() {
    raw(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

}  // namespace

Modules& modules() {
    return all;
}

void Modules::load_program() {
    if (count_ != 0)
        return;
    Module* module = place_for(nullptr);
    if (module == nullptr)
        fail("there is no memory for the program's layout table");
    const char* failure = module->code.load(&__ehdr_start, own_file);
    if (failure != nullptr && file_of_program() != nullptr)
        failure = module->code.load(&__ehdr_start, file_of_program());
    if (failure != nullptr && settings().parts_given && settings().parts == 0)
        return;
    if (failure != nullptr)
        fail("the program cannot be moved: ", failure);
    module->image = &__ehdr_start;
    const auto& header = module->code.program().header();
    module->functions = header.function_count;
    default_settings(header.parts, header.interval_ns, header.seed);
}

void Modules::start() {
    raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
    if (const char* failure = start(*modules_[0]))
        fail("the program cannot be moved: ", failure);
    is_started_ = true;
}

void Modules::forget_files() const {
    for (std::uint32_t index = 0; index < count(); ++index)
        modules_[index]->code.program().forget_pages();
}

const char* Modules::start(Module& module) {
    if (module.code.program().header().switches_stacks != 0)
        search_memory();
    const char* failure =
        module.code.start(stream(code_stream, module), stream(stack_stream, module));
    if (failure != nullptr)
        return failure;
    module.moves = true;
    count_pages();
    return nullptr;
}

/// A library that comes again takes the place that it had.
Module* Modules::place_for(const char* path) {
    for (std::uint32_t index = 1; index < count_; ++index) {
        if (modules_[index]->image == nullptr && same_text(modules_[index]->path, path))
            return modules_[index];
    }
    if (count_ == most_modules)
        return nullptr;
    const std::size_t path_bytes = path == nullptr ? 0 : length(path) + 1;
    auto* place = static_cast<std::uint8_t*>(
        map_pages(nullptr, sizeof(Module) + path_bytes, PROT_READ | PROT_WRITE));
    if (place == nullptr)
        return nullptr;
    auto* module = new (place) Module{};
    module->number = count_;
    if (path != nullptr) {
        module->path = reinterpret_cast<const char*>(place + sizeof(Module));
        __builtin_memcpy(place + sizeof(Module), path, path_bytes);
    }
    modules_[count_] = module;
    __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
    return module;
}

void Modules::enter(const Elf64_Ehdr* image, const char* path) {
    Module* module = is_started_ ? place_for(path) : nullptr;
    if (module == nullptr)
        return;
    const char* failure = module->code.load(image, path);
    if (failure == nullptr)
        failure = start(*module);
    if (failure == nullptr) {
        module->image = image;
        module->functions = module->code.program().function_count();
        return;
    }
    module->code.stop();
    Text about;
    about << "a library stays where it is: " << path << ": " << failure;
    tell(about.terminated());
}

void Modules::leave(const Elf64_Ehdr* image) {
    for (std::uint32_t index = 1; index < count_; ++index) {
        if (modules_[index]->image == image) {
            modules_[index]->image = nullptr;
            modules_[index]->code.stop();
        }
    }
    count_pages();
}

void Modules::move(long process) {
    const std::uint64_t began_ns = now_ns();
    bool all_anew = true;
    for (std::uint32_t index = 0; index < count_; ++index) {
        Code& code = modules_[index]->code;
        all_anew &= !code.is_started() || code.lay_anew();
    }
    count_pages();
    const bool settled = settle(process);
    for (std::uint32_t index = 0; settled && index < count_; ++index) {
        if (modules_[index]->code.is_started())
            counts_.freed += modules_[index]->code.free_dead();
    }
    count_pages();
    forget_files();
    counts_.moves += all_anew ? 1U : 0U;
    counts_.postponed += !all_anew || !settled ? 1U : 0U;
    const std::uint64_t spent_ns = now_ns() - began_ns;
    counts_.total_move_ns += spent_ns;
    if (spent_ns > counts_.longest_move_ns)
        counts_.longest_move_ns = spent_ns;
}

/// Rounds until every thread is known to be in copies whose branches lead to the newest ones. Then
/// nobody can enter an old copy any more: a copy is entered by a branch of a copy that is entered,
/// by a jump from an original, or by a return, and the returns are on the stacks.
bool Modules::settle(long process) {
    if (searches_memory() && !memory_search_is_due())
        return false;
    for (int round = 0; round < most_rounds; ++round) {
        for (std::uint32_t index = 0; index < count_; ++index) {
            if (modules_[index]->code.is_started())
                modules_[index]->code.begin_round(searches_memory());
        }
        serialise_all_cores();
        if (!note_everything(process))
            return false;
        bool changed = false;
        for (std::uint32_t index = 0; index < count_; ++index) {
            Code& code = modules_[index]->code;
            changed |= code.is_started() && code.bring_up_to_date();
        }
        if (!changed)
            return true;
    }
    return false;
}

/// Threads come last: one that switches stacks meanwhile is where it is then.
bool Modules::note_everything(long process) const {
    const bool searched = searches_memory();
    if (searched && !note_all_memory())
        return false;
    const bool noted = note_all_threads(process);
    if (!searched && new_code_switches_stacks())
        modules().search_memory();
    // Where it is found only now that memory has to be searched, the next round does.
    return noted && searched == searches_memory();
}

bool Modules::keeps_books_at(std::uint64_t address) const {
    for (std::uint32_t index = 0; index < count(); ++index) {
        if (modules_[index]->code.keeps_books_at(address))
            return true;
    }
    return false;
}

void Modules::count_pages() {
    counts_.copy_pages = 0;
    for (std::uint32_t index = 0; index < count_; ++index)
        counts_.copy_pages += modules_[index]->code.arena().used_pages();
    if (counts_.copy_pages > counts_.most_copy_pages)
        counts_.most_copy_pages = counts_.copy_pages;
}

bool Modules::note(std::uint64_t address) {
    const std::uint32_t known = count();
    for (std::uint32_t index = 0; index < known; ++index) {
        if (modules_[index]->code.note(address))
            return true;
    }
    return false;
}

bool Modules::original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const {
    const std::uint32_t known = count();
    for (std::uint32_t index = 0; index < known; ++index) {
        if (modules_[index]->code.original(address, found, distance))
            return true;
    }
    return false;
}

const void* Modules::return_in_image(std::uint64_t address) const {
    for (std::uint32_t index = 0; index < count(); ++index) {
        if (modules_[index]->code.holds(address))
            return modules_[index]->code.program().find_return();
    }
    return nullptr;
}

std::uint64_t Modules::landing(std::uint64_t from, std::uint64_t wanted) const {
    std::uint64_t found = wanted;
    for (std::uint32_t index = 0; index < count() && found == wanted; ++index)
        found = modules_[index]->code.landing(from, wanted);
    return found;
}

}  // namespace steelyard::layout

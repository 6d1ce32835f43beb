/// Copies of a real shared library's functions, laid and freed while threads run in them. The
/// library is one that `steelyard c++ -shared` built from library.cpp of the integration tests;
/// STEELYARD_MOVING_LIBRARY names it. As nothing here answers for copies to the unwinder, nothing
/// is thrown.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "code.hpp"
#include "heap.hpp"
#include "modules.hpp"
#include "raw.hpp"
#include "tests.hpp"
#include "threads.hpp"

using namespace steelyard::layout;

namespace {

constexpr int worker_count = 4;
constexpr int rounds = 60;

std::atomic<int> faults;

void demand(bool holds, const char* what) {
    if (!holds && faults++ == 0)
        std::printf("does not hold: %s\n", what);
}

struct Library {
    void* handle = nullptr;
    const Elf64_Ehdr* image = nullptr;
    const char* path = nullptr;

    template <typename Function>
    Function function(const char* name) const {
        return reinterpret_cast<Function>(dlsym(handle, name));
    }
};

Library open_library() {
    Library library;
    library.path = std::getenv("STEELYARD_MOVING_LIBRARY");
    // The tests' own choice. NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint)
    library.handle = library.path == nullptr ? nullptr : dlopen(library.path, RTLD_NOW);
    link_map* map = nullptr;
    if (library.handle != nullptr &&
        dlinfo(library.handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0)
        library.image = reinterpret_cast<const Elf64_Ehdr*>(map->l_addr);
    return library;
}

/// What a thread does in the library, and where it was.
std::uint64_t call_into(const Library& library) {
    const auto choose = library.function<int (*)(int, int)>("library_choose");
    const auto twice = library.function<int (*(*)())(int)>("library_pointer")();
    const auto where = library.function<void* (*)()>("library_where");
    for (int value = 0; value < 200; ++value) {
        demand(choose(0, value) == value * 3, "a jump table");
        demand(choose(6, value) == -value, "a jump table");
        demand(choose(9, value) == value % 1000, "the rest of a jump table");
        demand(twice(value) == value * 2, "a pointer to a function");
    }
    return reinterpret_cast<std::uint64_t>(where());
}

/// Layouts come and go while the workers run in them. What a worker keeps of a copy is noted before
/// any is freed, as a search of its stack would do.
class Rounds {
  public:
    Rounds(Code& code, const Library& library) : code_(code), library_(library) {}

    void run() {
        std::vector<std::thread> workers;
        workers.reserve(worker_count);
        for (int own = 0; own < worker_count; ++own)
            workers.emplace_back([this, own] { work(own); });
        for (int round = 0; round < rounds; ++round) {
            demand(code_.lay_anew(), "room for new copies");
            demand(code_.lay_anew(), "room for new copies");
            code_.begin_round(false);
            all_.arrive_and_wait();  // they note
            all_.arrive_and_wait();
            while (code_.bring_up_to_date())
                ;
            freed_ += code_.free_dead();
            all_.arrive_and_wait();  // they look whether what they kept is still there
        }
        for (auto& worker : workers)
            worker.join();
    }
    std::uint64_t freed() const { return freed_; }

  private:
    void work(int own) {
        std::uint64_t first_original = 0;
        for (int round = 0; round < rounds; ++round) {
            const std::uint64_t place = call_into(library_);
            std::uint64_t original = 0;
            std::uint64_t distance = 0;
            demand(code_.original(place, original, distance), "the original of a copy");
            demand(original + distance == place, "the distance of a copy");
            demand(first_original == 0 || first_original == original, "one original for all");
            first_original = original;
            all_.arrive_and_wait();
            const bool keeps = own == round % worker_count;
            if (keeps)
                demand(code_.note(place), "noting a copy");
            all_.arrive_and_wait();
            all_.arrive_and_wait();
            std::uint64_t again = 0;
            if (keeps) {
                demand(code_.original(place, again, distance), "a copy that was noted");
                demand(again == original, "the original of a copy that was noted");
                demand(code_.landing(place, place) == place, "the landing in a copy");
            }
        }
    }

    Code& code_;
    const Library& library_;
    std::barrier<> all_{worker_count + 1};
    std::uint64_t freed_ = 0;
};

}  // namespace

TEST("threads run in copies that come and go") {
    heap_is_shuffled();  // reads the settings
    const Library library = open_library();
    if (library.image == nullptr) {
        std::printf("     STEELYARD_MOVING_LIBRARY names no library that was built to move\n");
        return;
    }
    const auto code = std::make_unique<Code>();
    const char* failure = code->load(library.image, library.path);
    CHECK(failure == nullptr);
    failure = failure == nullptr ? code->start(Random(1), Random(2)) : failure;
    CHECK(failure == nullptr);
    if (failure != nullptr) {
        std::printf("     %s\n", failure);
        return;
    }
    Rounds all(*code, library);
    all.run();
    CHECK(faults == 0);
    CHECK(all.freed() > code->program().function_count());
    CHECK(code->arena().used_pages() < 100);
    // The originals are traps now: the library is left open, and its copies stay.
}

#ifndef __SANITIZE_THREAD__
// Under the thread sanitizer signals interrupt its own bookkeeping, as it does not see how the
// kernel is asked for them.
TEST("every thread is found, where it waits and where it runs") {
    prepare_rounds();
    std::atomic<bool> ends = false;
    std::vector<std::thread> threads;
    threads.reserve(worker_count);
    for (int own = 0; own < worker_count; ++own) {
        threads.emplace_back([&ends, own] {
            while (!ends) {
                if (own % 2 == 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    }
    int complete = 0;
    for (int round = 0; round < rounds; ++round)
        complete += note_all_threads(getpid()) ? 1 : 0;
    ends = true;
    for (auto& thread : threads)
        thread.join();
    CHECK(complete > 0);
    CHECK(thread_counts().interruptions > 0);
}
#endif

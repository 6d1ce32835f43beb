/// The shuffled heap from several threads at once. It stands for malloc only in programs that are
/// built to move; here its functions are called by their own names.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base.hpp"
#include "heap.hpp"
#include "random.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "table.hpp"
#include "tests.hpp"

namespace steelyard::layout {

void load_defaults() {
    default_settings(part_code | part_stack | part_heap, 0, 1);
}

}  // namespace steelyard::layout

using namespace steelyard::layout;

namespace {

constexpr int thread_count = 6;
constexpr int rounds = 3000;
constexpr std::size_t largest_bytes = 80000;

// The thread sanitizer does not see where the kernel moves pages to.
#ifdef __SANITIZE_THREAD__
constexpr bool may_move_pages = false;
#else
constexpr bool may_move_pages = true;
#endif

struct Object {
    std::uint8_t* place;
    std::size_t size;
    std::uint8_t value;
};

/// What one thread leaves for another to free.
struct Mailbox {
    std::mutex lock;
    std::vector<Object> objects;
};

Mailbox mailboxes[thread_count];
std::atomic<int> faults;

void demand(bool holds) {
    faults += holds ? 0 : 1;
}

bool is_based() {
    return heap_base() == Base::other;
}

std::uint8_t* allocate(std::size_t alignment, std::size_t size) {
    void* place = is_based() ? based_allocate_aligned(alignment, size)
                             : heap_allocate_aligned(alignment, size);
    return static_cast<std::uint8_t*>(place);
}

std::size_t size_of(const std::uint8_t* place) {
    return is_based() ? based_size(place) : heap_size(place);
}

void release(const Object& object) {
    if (object.place == nullptr)
        return;  // told of when it was asked for
    demand(object.place[0] == object.value && object.place[object.size - 1] == object.value);
    std::memset(object.place, 0xdd, object.size);
    demand(is_based() ? based_free(object.place) : heap_free(object.place));
}

Object made(Random& random) {
    const bool is_large = random.below(50) == 0;
    const std::size_t size = 1 + random.below(is_large ? largest_bytes : 700);
    const std::size_t alignment = std::size_t{16} << (random.below(8) == 0 ? random.below(12) : 0);
    std::uint8_t* place = allocate(alignment, size);
    demand(place != nullptr && reinterpret_cast<std::uintptr_t>(place) % alignment == 0);
    demand(size_of(place) >= size);
    const auto value = static_cast<std::uint8_t>(random.next());
    if (place != nullptr)
        std::memset(place, value, size);
    return {place, size, value};
}

void resize_large(Random& random) {
    void* place = is_based() ? based_allocate(100000) : heap_allocate(100000);
    demand(place != nullptr);
    if (place == nullptr)
        return;
    std::memset(place, 1, 100000);
    void* larger = heap_resize_large(place, 200000 + random.below(100000));
    place = larger == nullptr ? place : larger;
    demand(static_cast<std::uint8_t*>(place)[99999] == 1);
    demand(is_based() ? based_free(place) : heap_free(place));
}

/// How many lie within 4 KiB of the one before.
std::size_t neighbours(const std::vector<std::uint8_t*>& places) {
    std::size_t count = 0;
    for (std::size_t at = 1; at < places.size(); ++at)
        count += std::abs(places[at] - places[at - 1]) < 4096 ? 1 : 0;
    return count;
}

void churn(int own, std::uint64_t seed) {
    Random random(seed);
    std::vector<Object> kept;
    for (int round = 0; round < rounds; ++round) {
        kept.push_back(made(random));
        if (may_move_pages && round % 64 == 0 && !is_based())
            resize_large(random);
        if (random.below(4) == 0) {
            Mailbox& other = mailboxes[static_cast<std::size_t>(own + 1) % thread_count];
            const std::scoped_lock guard(other.lock);
            other.objects.push_back(kept.back());
            kept.pop_back();
        }
        std::vector<Object> mine;
        {
            const std::scoped_lock guard(mailboxes[own].lock);
            mine.swap(mailboxes[own].objects);
        }
        for (const Object& object : mine)
            release(object);
        while (kept.size() > 500 || (!kept.empty() && random.below(3) == 0)) {
            const std::uint32_t which = random.below(static_cast<std::uint32_t>(kept.size()));
            release(kept[which]);
            kept[which] = kept.back();
            kept.pop_back();
        }
    }
    for (const Object& object : kept)
        release(object);
}

}  // namespace

TEST("objects of the heap are their owners' alone, whichever thread frees them") {
    load_base();
    CHECK(heap_is_shuffled());
    // Threads of the second generation take over the heaps that those of the first one left.
    for (int generation = 0; generation < 2; ++generation) {
        std::vector<std::thread> threads;
        threads.reserve(thread_count);
        for (int own = 0; own < thread_count; ++own)
            threads.emplace_back(churn, own, static_cast<std::uint64_t>(generation * 100 + own));
        for (auto& thread : threads)
            thread.join();
    }
    for (Mailbox& mailbox : mailboxes) {
        for (const Object& object : mailbox.objects)
            release(object);
        mailbox.objects.clear();
    }
    CHECK(faults == 0);
}

TEST("what one thread frees of another's in great number comes back to it") {
    constexpr std::size_t object_bytes = 64;
    constexpr std::size_t objects = 30000;  // more than a thread keeps to itself
    Mailbox mailbox;
    std::atomic<bool> ends = false;
    std::thread freeing([&] {
        for (bool last = false; !last;) {
            last = ends;
            std::vector<Object> mine;
            {
                const std::scoped_lock guard(mailbox.lock);
                mine.swap(mailbox.objects);
            }
            for (const Object& object : mine)
                release(object);
        }
    });
    for (std::size_t at = 0; at < objects; ++at) {
        std::uint8_t* place = allocate(16, object_bytes);
        const auto value = static_cast<std::uint8_t>(at);
        std::memset(place, value, object_bytes);
        const std::scoped_lock guard(mailbox.lock);
        mailbox.objects.push_back({place, object_bytes, value});
    }
    ends = true;
    freeing.join();
    CHECK(faults == 0);
}

TEST(
    "what is built again after all of it was freed lies together, and what comes and goes does "
    "not") {
    if (is_based())
        return;
    constexpr std::size_t object_bytes = 64;
    constexpr std::size_t objects = 10000;  // two windows and a half
    std::vector<std::uint8_t*> built(objects);
    for (int time = 0; time < 3; ++time) {
        for (std::uint8_t*& place : built)
            place = allocate(16, object_bytes);
        if (time == 2)
            CHECK(neighbours(built) > objects / 2);
        for (std::uint8_t* place : built)
            demand(heap_free(place));
    }
    constexpr std::size_t live = 100;
    std::vector<std::uint8_t*> turnover;
    for (std::size_t at = 0; at < objects; ++at) {
        if (at >= live)
            demand(heap_free(turnover[at - live]));
        turnover.push_back(allocate(16, object_bytes));
    }
    turnover.erase(turnover.begin(), turnover.begin() + objects / 2);
    CHECK(neighbours(turnover) < turnover.size() / 8);
    for (std::size_t at = turnover.size() - live; at < turnover.size(); ++at)
        demand(heap_free(turnover[at]));
    CHECK(faults == 0);
}

TEST("a child of a fork has a heap of its own") {
    std::fflush(stdout);  // it is the child's too
    hold_base();
    hold_heap();
    const pid_t child = fork();
    if (child == 0) {
        reset_heap_in_child();
        reset_base_in_child();
        Random random(7);
        for (int round = 0; round < 100; ++round)
            release(made(random));
        _exit(faults == 0 ? 0 : 1);
    }
    resume_heap();
    resume_base();
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

TEST("a lock lets one in at a time") {
    Lock lock;
    long counted = 0;
    std::vector<std::thread> threads;
    threads.reserve(thread_count);
    for (int own = 0; own < thread_count; ++own) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                const Guard guard(lock);
                ++counted;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    CHECK(counted == long{thread_count} * rounds);
}

TEST("a text grows, and leaves out what JSON would not take") {
    Text text;
    for (std::uint64_t number = 0; number < 20000; ++number)
        text << number << " " << "\n";
    text.clear();
    text.quoted("a\"b\\c\n");
    CHECK(same_text(text.terminated(), "\"a?b?c?\""));
}

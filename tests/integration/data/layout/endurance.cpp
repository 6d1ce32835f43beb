// What must go on while the program moves, for as long as it is told to: `endurance WHAT SECONDS`.
// With a third word it also goes on until it has been in so many of its own copies.
// Everything checks its own results; the program prints what it counted, or ends with status 1.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace {

using Clock = std::chrono::steady_clock;

void demand(bool holds, const char* what) {
    if (holds)
        return;
    std::fprintf(stderr, "endurance: %s is wrong\n", what);
    std::_Exit(1);
}

NOINLINE void* here() {
    return __builtin_return_address(0);
}

std::size_t copies_wanted = 0;

class Until {
  public:
    explicit Until(double seconds) : end_(after(seconds)), given_up_(after(most_seconds)) {}

    NOINLINE bool is_over() const {
        const Clock::time_point now = Clock::now();
        if (seen_ < copies_wanted)
            note_place();
        return now >= end_ && (seen_ >= copies_wanted || now >= given_up_);
    }

  private:
    static constexpr double most_seconds = 600;

    // No more of them than are wanted, since who runs for an hour is watched for its memory.
    NOINLINE void note_place() const {
        thread_local void* last = nullptr;
        void* place = here();
        asm volatile("" : "+r"(place));
        if (place == last)
            return;
        last = place;
        const std::lock_guard lock(mutex_);
        places_.insert(place);
        seen_ = places_.size();
    }
    static Clock::time_point after(double seconds) {
        return Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    Clock::time_point end_, given_up_;
    mutable std::mutex mutex_;
    mutable std::set<void*> places_;
    mutable std::atomic<std::size_t> seen_ = 0;
};

// Frames of old and new copies lie among each other when such an exception passes through them.
struct Guarded {
    explicit Guarded(long& open) : open(open) { ++open; }
    ~Guarded() { --open; }
    long& open;
};

NOINLINE long descend(long depth, long value, long& open) {
    const Guarded guarded(open);
    if (depth == 0)
        throw std::runtime_error(std::to_string(value));
    // Time passes half way, so that the frames below are of later copies.
    if (depth == 20)
        std::this_thread::sleep_for(std::chrono::microseconds(300));
    return descend(depth - 1, value + depth % 7, open) + 1;
}

NOINLINE long caught(long value) {
    long open = 0;
    try {
        return descend(40, value, open);
    } catch (const std::runtime_error& error) {
        demand(open == 0, "the count of frames that an exception left");
        return std::strtol(error.what(), nullptr, 10);
    }
}

long throw_in_threads(double seconds) {
    const Until until(seconds);
    const long gained = caught(0);
    std::atomic<long> thrown = 0;
    std::vector<std::thread> threads;
    for (long first = 0; first < 8; ++first)
        threads.emplace_back([&thrown, &until, gained, first] {
            for (long value = first; !until.is_over(); ++value, ++thrown)
                demand(caught(value) == value + gained, "what an exception carried");
        });
    for (auto& thread : threads)
        thread.join();
    return thrown;
}

// Threads that wait deep in their stacks, and end: with stacks as large as these glibc keeps none,
// so that who still reads one finds nothing there.
NOINLINE long wait_below(long depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    if (depth == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return room[0];
    }
    return wait_below(depth - 1) + 1;
}

void* wait_and_end(void* /*unused*/) {
    demand(wait_below(1500) == 1500, "the depth of a thread that waits");
    return nullptr;
}

long end_threads(double seconds) {
    constexpr std::size_t stack_bytes = std::size_t{64} << 20U;
    pthread_attr_t attributes;
    demand(pthread_attr_init(&attributes) == 0, "attributes of threads");
    demand(pthread_attr_setstacksize(&attributes, stack_bytes) == 0, "large stacks");
    std::atomic<long> ended = 0;
    const Until until(seconds);
    std::vector<std::thread> starters;
    for (int number = 0; number < 8; ++number)
        starters.emplace_back([&] {
            for (; !until.is_over(); ++ended) {
                pthread_t thread{};
                demand(pthread_create(&thread, &attributes, wait_and_end, nullptr) == 0,
                       "a thread");
                demand(pthread_join(thread, nullptr) == 0, "the end of a thread");
            }
        });
    for (auto& starter : starters)
        starter.join();
    return ended;
}

// The places that a loop in `main` and a recursion of static functions are seen at.
NOINLINE void see(std::set<void*>& places) {
    void* place = here();
    asm volatile("" : "+r"(place));
    places.insert(place);
}

NOINLINE long recur(long depth, const Until& until, std::set<void*>& places) {
    see(places);
    if (depth == 0 || until.is_over())
        return 0;
    if (depth % 50 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const long below = recur(depth - 1, until, places);
    return below + 1;
}

NOINLINE long sink(long depth) {
    char frame[16];
    std::memset(frame, static_cast<int>(depth), sizeof frame);
    asm volatile("" : : "r"(frame) : "memory");
    const long below = depth == 0 ? 0 : sink(depth - 1);
    demand(depth == 0 || frame[15] == static_cast<char>(depth), "a frame of a deep recursion");
    return below + 1;
}

std::jmp_buf back;
NOINLINE void jump(int depth) {
    if (depth == 0)
        std::longjmp(back, 42);
    jump(depth - 1);
    asm volatile("");
}

NOINLINE void jump_far() {
    volatile int kept = 17;
    const int value = setjmp(back);
    if (value == 0)
        jump(12);
    demand(value == 42 && kept == 17, "what longjmp brought back");
}

std::atomic<long> signals = 0;
void on_signal(int /*number*/) {
    ++signals;
}

struct Counting {
    struct promise_type {
        long value = 0;
        Counting get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long given) {
            value = given;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

NOINLINE Counting count_from(long first) {
    for (long value = first;; ++value)
        co_yield value;
}

thread_local long in_thread = 1;

NOINLINE long touch(long times) {
    for (long time = 0; time < times; ++time)
        in_thread = in_thread * 3 % 1000003;
    return in_thread;
}

void fork_once() {
    const pid_t child = fork();
    if (child == 0) {
        for (long value = 0; value < 20; ++value)
            caught(value);
        _exit(touch(5) > 0 ? 7 : 1);
    }
    int status = 0;
    demand(child > 0 && waitpid(child, &status, 0) == child, "waiting for a child");
    demand(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the status of a child");
}

// Coroutines that live on while everything moves, and one of everything else in each round.
long mix(double seconds) {
    const Until until(seconds);
    std::signal(SIGUSR1, on_signal);
    const long gained = caught(0);
    std::atomic<bool> stops = false;
    std::vector<std::thread> threads;
    for (int which = 0; which < 2; ++which)
        threads.emplace_back([&stops, gained] {
            for (long value = 0; !stops; ++value) {
                demand(caught(value) == value + gained, "what an exception carried");
                const long before = in_thread;
                in_thread = 1;
                demand(touch(3) == 27, "a variable of a thread");
                in_thread = before;
                std::string text(static_cast<std::size_t>(value % 3000), 'x');
                demand(text.size() == static_cast<std::size_t>(value % 3000), "a string");
            }
        });
    Counting counting = count_from(0);
    long rounds = 0;
    for (; !until.is_over(); ++rounds) {
        counting.handle.resume();
        demand(counting.handle.promise().value == rounds, "what a coroutine counted");
        jump_far();
        const long before = signals;
        std::raise(SIGUSR1);
        demand(signals == before + 1, "the count of signals");
        demand(caught(rounds) == rounds + gained, "what an exception carried");
        demand(sink(2000) == 2001, "the depth of a recursion");
        if (rounds % 64 == 0)
            fork_once();
    }
    stops = true;
    for (auto& thread : threads)
        thread.join();
    counting.handle.destroy();
    return rounds;
}

// Objects of threads that build and free in swings, hand some to one another, end, and begin anew:
// what a heap keeps of all that has to come back. Each object has its own size in its first and
// last byte.
using Objects = std::vector<std::string_view>;
using Random = std::minstd_rand;

std::mutex passing;
Objects passed;

void make(Objects& objects, Random& random) {
    const std::size_t most = random() % 500 == 0 ? 100000 : random() % 8 == 0 ? 2000 : 300;
    const std::size_t size = 1 + random() % most;
    char* place = static_cast<char*>(std::malloc(size));
    demand(place != nullptr, "an allocation");
    place[0] = place[size - 1] = static_cast<char>(size);
    objects.emplace_back(place, size);
}

void drop(Objects& objects, Random& random) {
    std::swap(objects[random() % objects.size()], objects.back());
    const std::string_view object = objects.back();
    const char value = static_cast<char>(object.size());
    demand(object.front() == value && object.back() == value, "what an object holds");
    std::free(const_cast<char*>(object.data()));
    objects.pop_back();
}

void pass_on(Objects& objects, Random& random) {
    constexpr std::size_t together = 1000;
    const std::lock_guard lock(passing);
    for (std::size_t time = 0; time < together; ++time) {
        passed.push_back(objects.back());
        objects.pop_back();
    }
    while (passed.size() > 2 * together)
        drop(passed, random);
}

void swing(Random random) {
    Objects objects;
    for (int time = 0; time < 3; ++time) {
        const std::size_t most = 5000 + random() % 20000;
        const std::size_t fewest = 1000 + random() % 3000;
        while (objects.size() < most) {
            make(objects, random);
            if (random() % 3 == 0)
                drop(objects, random);
        }
        pass_on(objects, random);
        for (int turn = 0; turn < 100000; ++turn) {
            drop(objects, random);
            make(objects, random);
        }
        while (objects.size() > fewest)
            drop(objects, random);
    }
    while (!objects.empty())
        drop(objects, random);
}

long turn_over(double seconds) {
    long phases = 0;
    for (const Until until(seconds); !until.is_over(); ++phases) {
        std::vector<std::thread> threads;
        for (unsigned number = 1; number <= 4; ++number)
            threads.emplace_back(swing, Random(static_cast<unsigned>(phases) * 4 + number));
        for (auto& thread : threads)
            thread.join();
    }
    return phases;
}

}  // namespace

int main(int count, char** arguments) {
    demand(count == 3 || count == 4, "the call: endurance WHAT SECONDS_OR_DEPTH [COPIES]");
    copies_wanted = count == 4 ? std::strtoul(arguments[3], nullptr, 10) : 0;
    const std::string_view what = arguments[1];
    const double size = std::atof(arguments[2]);
    if (what == "exceptions") {
        std::printf("%ld thrown\n", throw_in_threads(size));
    } else if (what == "endings") {
        std::printf("%ld ended\n", end_threads(size));
    } else if (what == "mixture") {
        std::printf("%ld rounds\n", mix(size));
    } else if (what == "turnover") {
        std::printf("%ld phases\n", turn_over(size));
    } else if (what == "depth") {
        std::printf("%ld deep\n", sink(static_cast<long>(size)));
    } else if (what == "loop") {
        std::set<void*> places;
        for (const Until until(size); !until.is_over();)
            see(places);
        std::printf("%zu places\n", places.size());
    } else if (what == "recursion") {
        std::set<void*> places;
        const Until until(size);
        for (long depth = 5000; !until.is_over();)
            recur(depth, until, places);
        std::printf("%zu places\n", places.size());
    } else {
        demand(false, "the word for what to do");
    }
    return 0;
}

// Uses library.cpp: linked (-DLINKED), or by dlopen, and dlclose, again and again. The last word
// says in how many copies of it every thread must have been each time.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" {
void* library_where();
int library_choose(int kind, int value);
int library_throw(int value);
int library_call(int (*callback)(int), int value);
int library_calls();
int library_twice(int value);
int (*library_pointer())(int);
}

struct Library {
    decltype(&library_where) where;
    decltype(&library_choose) choose;
    decltype(&library_throw) raise;
    decltype(&library_call) call;
    decltype(&library_calls) calls;
    decltype(&library_twice) twice;
    decltype(&library_pointer) pointer;
};

static int callback(int value) {
    if (value % 5 == 0)
        throw std::logic_error("program");
    return value;
}

using Clock = std::chrono::steady_clock;
static std::size_t copies_wanted;

// What one thread sees, for this long and until it has been in enough copies, or it takes forever;
// the sum is that of the first round.
static long use(const Library& library, int milliseconds, std::set<void*>& places) {
    const auto start = Clock::now();
    const auto until = start + std::chrono::milliseconds(milliseconds);
    const auto given_up = start + std::chrono::seconds(600);
    const auto goes_on = [&] {
        return Clock::now() < (places.size() < copies_wanted ? given_up : until);
    };
    long first = 0;
    for (long round = 0; round == 0 || goes_on(); ++round) {
        long sum = 0;
        for (int value = 1; value < 200; ++value) {
            sum += library.choose(value % 9 == 4 ? 5 : value % 9, value);
            try {
                sum += library.raise(value);
            } catch (const std::runtime_error& error) {
                sum += error.what()[8];
            }
            sum += library.call(callback, value);
        }
        sum += library.pointer() == library.twice;
        if (round == 0)
            first = sum + library.calls();
        else if (first != sum + 199)
            std::abort();
        places.insert(library.where());
    }
    return first;
}

static void run(const Library& library, int milliseconds) {
    std::set<void*> places[4];
    long sums[4];
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
        threads.emplace_back(
            [&, number] { sums[number] = use(library, milliseconds, places[number]); });
    for (auto& thread : threads)
        thread.join();
    std::printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
    std::fprintf(stderr, "%zu\n", places[0].size());
}

int main(int count, char** arguments) {
    copies_wanted = std::strtoul(arguments[count - 1], nullptr, 10);
#ifdef LINKED
    run({library_where, library_choose, library_throw, library_call, library_calls, library_twice,
         library_pointer},
        100);
#else
    for (int time = 0; time < 10; ++time) {
        void* handle = dlopen(arguments[1], RTLD_NOW);
        if (handle == nullptr)
            return 1;
        const auto find = [&]<typename F>(F*, const char* name) {
            return reinterpret_cast<F*>(dlsym(handle, name));
        };
#define FIND(name) find(static_cast<decltype(&name)>(nullptr), #name)
        run({FIND(library_where), FIND(library_choose), FIND(library_throw), FIND(library_call),
             FIND(library_calls), FIND(library_twice), FIND(library_pointer)},
            10);
        dlclose(handle);
    }
#endif
    return 0;
}

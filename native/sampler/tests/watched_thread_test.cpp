#include "watched_thread.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <semaphore>
#include <thread>

#include "fatal.hpp"
#include "ring.hpp"
#include "tests.hpp"

namespace {

using steelyard::Clock;
using steelyard::CountingEvent;
using steelyard::Fatal;
using steelyard::Intervals;
using steelyard::Sampling;
using steelyard::SamplingEvent;
using steelyard::WatchedThread;

constexpr double period_ns = 2e6;

std::uint64_t own_time_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// A thread that computes for as much processor time as it is told to, and waits in between.
class Worker {
  public:
    Worker() : thread_([this] { work(); }) { ready_.acquire(); }
    ~Worker() {
        ends_ = true;
        go_.release();
        thread_.join();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void compute(double time_ns) {
        begin_to_compute(time_ns);
        ready_.acquire();
    }
    void begin_to_compute(double time_ns) {
        asked_ns_ = static_cast<std::uint64_t>(time_ns);
        go_.release();
    }
    void wait() { ready_.acquire(); }
    pid_t number() const { return number_; }

  private:
    void work() {
        number_ = static_cast<pid_t>(syscall(SYS_gettid));
        for (ready_.release();; ready_.release()) {
            go_.acquire();
            if (ends_)
                return;
            for (const std::uint64_t end = own_time_ns() + asked_ns_; own_time_ns() < end;)
                ;
        }
    }

    std::binary_semaphore go_{0};
    std::binary_semaphore ready_{0};
    pid_t number_ = 0;
    std::uint64_t asked_ns_ = 0;
    bool ends_ = false;
    std::thread thread_;
};

std::size_t samples_in(WatchedThread& thread) {
    std::size_t count = 0;
    thread.samples().ring().drain([&count](const steelyard::RawRecord& record) {
        count += record.header->type == PERF_RECORD_SAMPLE ? 1 : 0;
    });
    return count;
}

Sampling nearly_fixed() {
    Sampling sampling;
    sampling.period_ns = period_ns;
    sampling.ratio = 0.01;
    return sampling;
}

Intervals intervals_of(const Sampling& sampling) {
    return {sampling.spread, sampling.period_ns, sampling.ratio, 1};
}

/// Runs `check` with a worker that is watched and has had its first sample.
template <typename Check>
void with_a_sampled_thread(Check check) {
    const Sampling sampling = nearly_fixed();
    Intervals intervals = intervals_of(sampling);
    Worker worker;
    try {
        WatchedThread thread(worker.number(), sampling, true);
        thread.begin(intervals);
        worker.compute(1.1 * period_ns);
        if (samples_in(thread) == 1)
            check(worker, thread, intervals);
    } catch (const Fatal& refused) {
        std::printf("skipped: %s\n", refused.message.c_str());
    }
}

}  // namespace

TEST("a sampler that waits while the thread does makes no sample come sooner") {
    with_a_sampled_thread([](Worker& worker, WatchedThread& thread, Intervals& intervals) {
        const std::uint64_t watched_ns = thread.watching().watched_ns;
        // Many periods by the clock on the wall, none of the thread's.
        timespec pause{0, static_cast<long>(10 * period_ns)};
        while (nanosleep(&pause, &pause) != 0)
            ;
        CHECK(static_cast<double>(thread.watching().watched_ns - watched_ns) < 0.1 * period_ns);
        const bool in_time = thread.go_on(intervals);
        if (!in_time)
            return;  // it was late from the first sample on
        worker.compute(0.01 * period_ns);
        CHECK(samples_in(thread) == 0);
        worker.compute(1.5 * period_ns);
        CHECK(samples_in(thread) == 1);
    });
}

TEST("what a thread runs before the kernel's timer can come is not watched") {
    constexpr double nearest_ns = 10'000;
    const Sampling sampling = nearly_fixed();
    Intervals intervals = intervals_of(sampling);
    Worker worker;
    try {
        const CountingEvent whole(worker.number(), CountingEvent::Scope::thread, true);
        WatchedThread thread(worker.number(), sampling, true);
        thread.begin(intervals);
        worker.compute(nearest_ns);
        // Read first: the worker may run on between the two.
        const auto watched_ns = static_cast<double>(thread.watching().watched_ns);
        const auto ran_ns = static_cast<double>(whole.counts().all);
        CHECK(watched_ns <= ran_ns - nearest_ns);
    } catch (const Fatal& refused) {
        std::printf("skipped: %s\n", refused.message.c_str());
    }
}

TEST("what a thread runs after a look that was missed is not watched") {
    with_a_sampled_thread([](Worker& worker, WatchedThread& thread, Intervals& intervals) {
        const std::uint64_t missed_ns = thread.watching().missed_ns;
        worker.compute(5 * period_ns);
        // The event is off: one sample at most would have been due in the first period.
        CHECK(samples_in(thread) == 0);
        CHECK(static_cast<double>(thread.watching().missed_ns - missed_ns) > 3.5 * period_ns);
        CHECK(!thread.go_on(intervals));
        CHECK(static_cast<double>(thread.watching().missed_ns - missed_ns) > 3.5 * period_ns);
        CHECK(static_cast<double>(thread.watching().watched_ns) < 3.5 * period_ns);
    });
}

TEST("an event of a thread that goes on computing is switched on at once") {
    constexpr double look_after_ns = 1e6, much_later_ns = 1e15;
    constexpr int times = 50;
    Worker worker;
    try {
        const CountingEvent clock(worker.number(), CountingEvent::Scope::thread, true);
        SamplingEvent event({worker.number(), -1, clock.file()}, Clock::software, {}, true);
        worker.begin_to_compute(3 * times * look_after_ns);
        CountingEvent::Counts passed;
        for (int time = 0; time < times; ++time) {
            const CountingEvent::Counts before = clock.counts();
            event.sample_once(static_cast<std::uint64_t>(much_later_ns));
            // By the thread's own time, whoever else has the CPU.
            CountingEvent::Counts now = before;
            for (int look = 0; look < 2'000'000; ++look) {
                if (static_cast<double>(now.all - before.all) >= look_after_ns)
                    break;
                now = clock.counts();
            }
            passed.all += now.all - before.all;
            passed.led += now.led - before.led;
        }
        worker.wait();
        CHECK(passed.all > 0);
        CHECK(static_cast<double>(passed.led) > 0.8 * static_cast<double>(passed.all));
    } catch (const Fatal& refused) {
        std::printf("skipped: %s\n", refused.message.c_str());
    }
}

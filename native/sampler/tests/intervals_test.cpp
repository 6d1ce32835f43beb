#include "intervals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "fatal.hpp"
#include "sample_source.hpp"
#include "tests.hpp"

namespace {

using steelyard::Intervals;
using steelyard::Spread;

constexpr double period_ns = 1e6;
constexpr int draws = 100'000;

struct Moments {
    double mean = 0;
    double variance = 0;
    double lag_one = 0;
};

Moments moments_of(Spread spread, double ratio) {
    Intervals intervals(spread, period_ns, ratio, 1);
    std::vector<double> values;
    values.reserve(draws);
    for (int draw = 0; draw < draws; ++draw)
        values.push_back(static_cast<double>(intervals.next_ns()) / period_ns);
    Moments moments;
    for (const double value : values)
        moments.mean += value / draws;
    for (std::size_t at = 0; at < values.size(); ++at) {
        const double from_mean = values[at] - moments.mean;
        moments.variance += from_mean * from_mean / draws;
        if (at > 0)
            moments.lag_one += from_mean * (values[at - 1] - moments.mean) / draws;
    }
    moments.lag_one /= moments.variance;
    return moments;
}

bool near(double value, double wanted, double tolerance) {
    return std::fabs(value - wanted) < tolerance;
}

/// Samples of so many threads that each live for a part of the period, for one each period of time.
double samples_a_period(Spread spread, double life_periods) {
    Intervals intervals(spread, period_ns, 1, 1);
    const auto life_ns = static_cast<std::uint64_t>(life_periods * period_ns);
    int samples = 0;
    for (int thread = 0; thread < draws; ++thread) {
        std::uint64_t at_ns = intervals.first_ns();
        while (at_ns < life_ns) {
            ++samples;
            at_ns += intervals.next_ns();
        }
    }
    return samples / (draws * life_periods);
}

}  // namespace

// Four standard errors of a hundred thousand threads with a tenth of a sample each are 0.04.
TEST("threads that live for less than a period are sampled once a period") {
    for (const Spread spread : {Spread::uniform, Spread::exponential}) {
        CHECK(near(samples_a_period(spread, 0.1), 1, 0.04));
        CHECK(near(samples_a_period(spread, 0.5), 1, 0.02));
        CHECK(near(samples_a_period(spread, 2.5), 1, 0.01));
    }
}

TEST("a thread is never asked for a sample after no time at all, which the kernel refuses") {
    for (const Spread spread : {Spread::uniform, Spread::exponential, Spread::rounds}) {
        Intervals intervals(spread, 2, 1, 1);
        for (int draw = 0; draw < draws; ++draw)
            CHECK(intervals.first_ns() > 0);
    }
}

TEST("a fixed spread never varies") {
    Intervals intervals(Spread::fixed, period_ns, 1, 1);
    for (int draw = 0; draw < 10; ++draw)
        CHECK(intervals.next_ns() == 1'000'000);
}

// A uniform value on (0.02, 1.98) has variance 0.98² / 3; four standard errors of a mean of 100,000
// are 0.0073.
TEST("uniform intervals have the period as mean, their variance, and no memory") {
    const Moments moments = moments_of(Spread::uniform, 1);
    CHECK(near(moments.mean, 1, 0.01));
    CHECK(near(moments.variance, 0.98 * 0.98 / 3, 0.008));
    CHECK(near(moments.lag_one, 0, 0.013));
}

TEST("exponential intervals have a variance of nearly one, and no memory") {
    const Moments moments = moments_of(Spread::exponential, 1);
    CHECK(near(moments.mean, 1, 0.02));
    CHECK(near(moments.variance, 0.98 * 0.98, 0.03));
    CHECK(near(moments.lag_one, 0, 0.013));
}

TEST("a smaller ratio keeps intervals close to the period") {
    Intervals intervals(Spread::uniform, period_ns, 0.1, 7);
    for (int draw = 0; draw < draws; ++draw) {
        const auto interval_ns = intervals.next_ns();
        CHECK(interval_ns >= 900'000 && interval_ns <= 1'100'000);
    }
}

TEST("no interval is too short for a look of its own, and their mean is the period all the same") {
    for (const auto spread : {Spread::uniform, Spread::exponential}) {
        for (const double frequent_ns : {100e3, 30e3, 20e3}) {
            const auto shortest_ns = static_cast<std::uint64_t>(std::min(20e3, frequent_ns / 2));
            Intervals intervals(spread, frequent_ns, 1, 3);
            std::uint64_t sum_ns = 0, least_ns = ~0ULL;
            for (int draw = 0; draw < draws; ++draw) {
                const auto interval_ns = intervals.next_ns();
                sum_ns += interval_ns;
                least_ns = std::min(least_ns, interval_ns);
            }
            CHECK(least_ns >= shortest_ns && least_ns < shortest_ns + 100);
            CHECK(near(static_cast<double>(sum_ns) / draws / frequent_ns, 1, 0.013));
        }
    }
}

TEST("the same seed gives the same intervals, another one others") {
    Intervals first(Spread::uniform, period_ns, 1, 5);
    Intervals again(Spread::uniform, period_ns, 1, 5);
    Intervals other(Spread::uniform, period_ns, 1, 6);
    bool differs = false;
    for (int draw = 0; draw < 10; ++draw) {
        const auto interval_ns = first.next_ns();
        CHECK(interval_ns == again.next_ns());
        differs = differs || interval_ns != other.next_ns();
    }
    CHECK(differs);
}

TEST("every CPU has times of its own, in recordings with seeds near each other too") {
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (int cpu = 0; cpu < 10; ++cpu) {
            steelyard::Sampling sampling;
            sampling.seed = seed;
            firsts.insert(steelyard::intervals_of(cpu, sampling).next_ns());
        }
    }
    CHECK(firsts.size() == 100);
}

TEST("a spread that is not known is refused by name") {
    bool refused = false;
    try {
        steelyard::spread_from("gaussian");
    } catch (const steelyard::Fatal& fatal) {
        refused = fatal.message.find("gaussian") != std::string::npos;
    }
    CHECK(refused);
}

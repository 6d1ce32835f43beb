#include "timetable.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "tests.hpp"

namespace {

using steelyard::Intervals;
using steelyard::Spread;
using steelyard::Timetable;

constexpr double period_ns = 1e6;
constexpr std::uint64_t begin_ns = 5'000'000'000;
constexpr std::size_t rounds = 3, round_samples = 4, slots = rounds * round_samples;

Intervals drawn() {
    return {Spread::exponential, period_ns, 1, 7};
}

struct Armed {
    std::size_t slot;
    std::uint64_t time_ns;
};

/// A timetable, with what was armed in its order, and the clock that it reads.
struct Kept {
    Timetable timetable{drawn(), rounds, round_samples, round_samples};
    std::vector<Armed> armed;
    std::vector<std::uint64_t> unseen_ns;
    std::uint64_t now_ns = begin_ns;

    void begin() {
        timetable.begin([this] { return now_ns; }, arming());
    }

    void go_on() {
        timetable.go_on([this] { return now_ns; }, arming(),
                        [this](std::uint64_t time_ns) { unseen_ns.push_back(time_ns); });
    }

    bool take(std::size_t at) { return timetable.take(armed[at].slot, armed[at].time_ns); }

    /// Takes each sample at its time, and goes on some time after the end of each round.
    void fall(std::size_t count) {
        for (std::size_t at = 0; at < count * round_samples; ++at) {
            CHECK(take(at));
            now_ns = armed[at].time_ns + 2'000;
            go_on();
        }
    }

    std::function<void(std::size_t, std::uint64_t)> arming() {
        return [this](std::size_t slot, std::uint64_t after_ns) {
            armed.push_back({slot, now_ns + after_ns});
        };
    }
};

}  // namespace

TEST("times are one row of draws, whenever they were armed") {
    Kept kept;
    kept.begin();
    kept.fall(20);
    Intervals intervals = drawn();
    std::uint64_t time_ns = kept.timetable.first_ns();
    for (std::size_t at = 0; at < kept.armed.size(); ++at) {
        time_ns += intervals.next_ns();
        CHECK(kept.armed[at].time_ns == time_ns);
        CHECK(kept.armed[at].slot == at % slots);
    }
    CHECK(kept.armed.size() == slots + 20 * round_samples);
    CHECK(kept.timetable.delays().late == 0 && kept.timetable.delays().unseen == 0);
}

TEST("a round is looked after with its last sample, and again when what is missing is given up") {
    Kept kept;
    kept.begin();
    const std::uint64_t last_ns = kept.armed[round_samples - 1].time_ns;
    const std::uint64_t look_ns = kept.timetable.look_ns(kept.now_ns);
    CHECK(look_ns > last_ns && look_ns < last_ns + 10'000);
    kept.now_ns = kept.timetable.look_ns(look_ns);
    CHECK(kept.now_ns > look_ns);
    kept.go_on();
    CHECK(kept.unseen_ns.size() == round_samples);
    CHECK(kept.timetable.look_ns(kept.now_ns) > kept.armed[2 * round_samples - 1].time_ns);
}

TEST("the first round begins when what is armed first would not fall twice before it is over") {
    Kept kept;
    kept.begin();
    const auto round_ns = static_cast<std::uint64_t>(period_ns * round_samples);
    CHECK(kept.timetable.first_ns() >= begin_ns + round_ns);
}

TEST("rounds grow from short ones, and no slot falls again before it is armed anew") {
    constexpr std::size_t grown = 32, first = 2;
    Timetable timetable(Intervals(Spread::uniform, period_ns, 0.2, 3), rounds, grown, first);
    std::uint64_t now_ns = begin_ns;
    std::vector<Armed> armed;
    std::vector<std::uint64_t> again_ns(rounds * grown, ~0ULL);
    const auto now = [&now_ns] { return now_ns; };
    const auto arm = [&](std::size_t slot, std::uint64_t after_ns) {
        CHECK(again_ns[slot] > now_ns);
        again_ns[slot] = now_ns + 2 * after_ns;
        armed.push_back({slot, now_ns + after_ns});
    };
    timetable.begin(now, arm);
    CHECK(armed.size() < 2 * rounds * first);
    CHECK(timetable.first_ns() <= begin_ns + 2 * first * static_cast<std::uint64_t>(period_ns));
    std::vector<std::size_t> drawn_at_once;
    for (std::size_t at = 0; at < 1'000; ++at) {
        CHECK(timetable.take(armed[at].slot, armed[at].time_ns));
        now_ns = armed[at].time_ns + 2'000;
        const std::size_t before = armed.size();
        timetable.go_on(now, arm, [](std::uint64_t) {});
        if (armed.size() > before)
            drawn_at_once.push_back(armed.size() - before);
    }
    CHECK(std::ranges::is_sorted(drawn_at_once));
    CHECK(drawn_at_once.back() == grown);
    for (std::size_t at = 1; at < armed.size(); ++at)
        CHECK(armed[at].time_ns > armed[at - 1].time_ns);
}

TEST("a round is drawn anew when its last sample was taken, in whatever order they came") {
    Kept kept;
    kept.begin();
    kept.now_ns = kept.armed[round_samples - 1].time_ns + 20'000;
    for (const std::size_t at : {3U, 0U, 2U}) {
        CHECK(kept.take(at));
        kept.go_on();
        CHECK(kept.armed.size() == slots);
    }
    CHECK(kept.take(1));
    kept.go_on();
    CHECK(kept.armed.size() == slots + round_samples);
}

TEST("a sample is taken once, and not before its time") {
    Kept kept;
    kept.begin();
    const auto [slot, time_ns] = kept.armed.front();
    CHECK(!kept.timetable.take(slot, time_ns - 10'000));
    CHECK(kept.timetable.take(slot, time_ns + 300));
    CHECK(!kept.timetable.take(slot, time_ns + 300));
}

TEST("what falls again by itself before it is armed anew is not taken for the next") {
    Kept kept;
    kept.begin();
    kept.fall(1);
    const auto [slot, time_ns] = kept.armed[slots];
    CHECK(slot == 0);
    CHECK(!kept.timetable.take(slot, kept.armed.front().time_ns + 1'000'000));
    CHECK(kept.timetable.take(slot, time_ns));
}

TEST("times that passed before they could be armed are drawn anew from now, and told of") {
    Kept kept;
    kept.begin();
    for (std::size_t at = 0; at < slots; ++at)
        CHECK(kept.take(at));
    kept.now_ns = kept.armed.back().time_ns + 1'000'000'000;
    kept.go_on();
    CHECK(kept.armed.size() == 2 * slots);
    CHECK(kept.timetable.delays().late == 1);
    CHECK(kept.armed[slots].time_ns >= kept.now_ns + 10'000);
    for (std::size_t at = slots + 1; at < kept.armed.size(); ++at)
        CHECK(kept.armed[at].time_ns > kept.armed[at - 1].time_ns);
}

TEST("after a delay of any length, timers seldom fall by themselves before they are armed anew") {
    constexpr std::size_t most_falls = 3;
    for (std::uint64_t delay_ns = 0; delay_ns < 40'000'000; delay_ns += 10'000) {
        Kept kept;
        kept.begin();
        for (std::size_t at = 0; at < slots; ++at)
            CHECK(kept.take(at));
        kept.now_ns = kept.armed[round_samples - 1].time_ns + delay_ns;
        const std::uint64_t armed_ns = kept.now_ns;
        kept.go_on();
        for (std::size_t at = slots; at + round_samples <= kept.armed.size(); at += round_samples) {
            const std::uint64_t end_ns = kept.armed[at + round_samples - 1].time_ns;
            for (std::size_t slot = at; slot < at + round_samples; ++slot) {
                const std::uint64_t after_ns = kept.armed[slot].time_ns - armed_ns;
                CHECK((end_ns - armed_ns) / after_ns <= most_falls * round_samples);
            }
        }
    }
}

TEST("a sample that does not come is given up after a while, and told of") {
    Kept kept;
    kept.begin();
    for (std::size_t at = 1; at < round_samples; ++at)
        CHECK(kept.take(at));
    kept.now_ns = kept.armed[round_samples - 1].time_ns + 150'000;
    kept.go_on();
    CHECK(kept.armed.size() == slots);
    kept.now_ns += 100'000;
    kept.go_on();
    CHECK(kept.armed.size() == slots + round_samples);
    CHECK(kept.unseen_ns == std::vector<std::uint64_t>{kept.armed[0].time_ns});
    CHECK(kept.timetable.delays().unseen == 1);
}

TEST("a look that gave no sample before the end is told of at the end, and later ones are not") {
    Kept kept;
    kept.begin();
    CHECK(kept.take(1));
    const auto tell = [&kept](std::uint64_t time_ns) { kept.unseen_ns.push_back(time_ns); };
    kept.timetable.end(kept.armed[2].time_ns, tell);
    const std::vector<std::uint64_t> expected{kept.armed[0].time_ns, kept.armed[2].time_ns};
    CHECK(kept.unseen_ns == expected);
    kept.timetable.end(kept.armed[2].time_ns, tell);
    CHECK(kept.unseen_ns == expected);
}

TEST("where arming takes longer than a round lasts, each round is drawn anew once and no more") {
    Kept kept;
    kept.begin();
    // As under a tracer, which every call waits for.
    constexpr auto a_call_ns = static_cast<std::uint64_t>(10 * period_ns);
    kept.now_ns += slots * a_call_ns;
    std::size_t calls = 0;
    kept.timetable.go_on([&kept] { return kept.now_ns; },
                         [&](std::size_t, std::uint64_t) {
                             kept.now_ns += a_call_ns;
                             ++calls;
                         },
                         [](std::uint64_t) {});
    CHECK(calls == slots);
}

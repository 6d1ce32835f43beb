// When the samples of one CPU fall, drawn some rounds ahead.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intervals.hpp"

namespace steelyard {

/// What went otherwise than planned.
struct Delays {
    /// Times that had passed, or nearly, before they could be armed: drawn anew.
    std::uint64_t late = 0;
    std::uint64_t unseen = 0;  ///< times at which the kernel gave no sample, as of an idle CPU
};

/// Samples have slots, which take turns in rounds: while those of one round fall, those of the next
/// are armed already, and those of the last are drawn anew. So the times are one row of draws, and
/// no interval knows when it was armed.
///
/// A slot falls again by itself, as long after its time as that was after its arming. A round that
/// lasts longer than those after it would let that happen before the slot is armed anew, so what is
/// not planned is not taken. For the same reason rounds grow: the first ones are short, so that
/// samples begin soon, and a later one has not more than the last two together. And where the
/// thread that arms was delayed by rounds, times are left out, so that none is armed for a moment
/// later.
class Timetable {
  public:
    /// `round_samples`: of a round that has grown; `first_samples`: of the first ones.
    Timetable(Intervals intervals, std::size_t rounds, std::size_t round_samples,
              std::size_t first_samples);

    /// Draws the first rounds. Calls `arm(slot, after_ns)` for each sample, which falls so long
    /// after the time that `now_ns()` gave last.
    template <typename Now, typename Arm>
    void begin(Now now_ns, const Arm& arm) {
        start_from(now_ns());
        for (std::size_t round = 0; round < rounds_.size(); ++round)
            draw_round(now_ns, arm);
    }

    /// Draws each round anew that is over: all its samples were taken, or are not to be expected
    /// any more. Calls `unseen(time_ns)` for each look that gave none. Each round once: where
    /// arming takes longer than a round lasts (under a tracer), there would be no end.
    template <typename Now, typename Arm, typename Unseen>
    void go_on(Now now_ns, const Arm& arm, const Unseen& unseen) {
        for (std::size_t turn = 0; turn < rounds_.size(); ++turn) {
            if (rounds_[round_].awaited != 0 && given_up_ns() > now_ns())
                return;
            end_round(rounds_[round_].end_ns, unseen);
            draw_round(now_ns, arm);
        }
    }

    /// Calls `unseen(time_ns)` for each look before `now_ns` that gave no sample; nothing is drawn
    /// any more.
    template <typename Unseen>
    void end(std::uint64_t now_ns, const Unseen& unseen) {
        for (std::size_t round = 0; round < rounds_.size(); ++round) {
            end_round(now_ns, unseen);
            round_ = (round_ + 1) % rounds_.size();
        }
    }

    /// Whether a sample of `slot` is one that was planned; it is taken once.
    bool take(std::size_t slot, std::uint64_t time_ns);

    std::size_t slots() const { return planned_ns_.size(); }
    /// When to look whether the round that falls now is over: right after its last sample, while
    /// the interrupt of that one is handled, and else when what has not come is given up.
    std::uint64_t look_ns(std::uint64_t now_ns) const {
        const std::uint64_t end_ns = rounds_[round_].end_ns + after_last_ns;
        return now_ns < end_ns ? end_ns : given_up_ns();
    }
    /// When the first sample can fall.
    std::uint64_t first_ns() const { return first_ns_; }
    const Delays& delays() const { return delays_; }

  private:
    // Far more than the interrupt of a timer takes to reach the CPU that this runs on.
    static constexpr std::uint64_t lateness_ns = 200'000;
    // More than a timer is off from the time that it was armed for, and less than handling its
    // interrupt takes: a timer that is due by then has none of its own.
    static constexpr std::uint64_t after_last_ns = 1'000;

    struct Round {
        std::uint64_t end_ns = 0;
        std::size_t awaited = 0;  // samples
    };

    std::uint64_t given_up_ns() const { return rounds_[round_].end_ns + lateness_ns; }
    void start_from(std::uint64_t now_ns);

    template <typename Unseen>
    void end_round(std::uint64_t now_ns, const Unseen& unseen) {
        for (std::size_t number = 0; number < round_samples_; ++number) {
            std::uint64_t& planned_ns = planned_ns_[round_ * round_samples_ + number];
            if (planned_ns == 0 || planned_ns > now_ns)
                continue;
            ++delays_.unseen;
            unseen(planned_ns);
            planned_ns = 0;
        }
    }

    template <typename Now, typename Arm>
    void draw_round(Now now_ns, const Arm& arm) {
        const std::size_t samples = next_samples_;
        for (std::size_t number = 0; number < samples; ++number) {
            const std::size_t slot = round_ * round_samples_ + number;
            const std::uint64_t from_ns = now_ns();
            arm(slot, plan(slot, from_ns) - from_ns);
        }
        rounds_[round_] = {last_ns_, samples};
        round_ = (round_ + 1) % rounds_.size();
        grow(samples);
    }

    std::uint64_t plan(std::size_t slot, std::uint64_t now_ns);
    void grow(std::size_t samples);

    Intervals intervals_;
    std::size_t round_samples_;
    std::size_t first_samples_;
    std::size_t next_samples_;               // of the round that is drawn next
    std::size_t last_samples_;               // of the one that was drawn last
    std::vector<std::uint64_t> planned_ns_;  // 0: fallen, or not planned yet
    std::vector<Round> rounds_;
    std::size_t round_ = 0;  // the one that falls now
    std::uint64_t first_ns_ = 0;
    std::uint64_t last_ns_ = 0;
    Delays delays_;
};

}  // namespace steelyard

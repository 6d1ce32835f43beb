#include "sample_source.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sampling_clocks.hpp"

namespace steelyard {

namespace {

// While one round falls another is armed; a third gives the thread that draws them time.
constexpr std::size_t rounds = 3;
// A wake for each round is shared by so many samples. With more timers each interrupt takes longer,
// which counts the more the more frequent samples are, while a reader that wakes seldom finds the
// caches cold.
constexpr double most_in_round = 64;
constexpr double most_in_frequent_round = 32;
constexpr double frequent_ns = 500e3;
// Copies of stacks are long: half of them fill half of the ring, where it wakes its reader.
constexpr double most_copies_in_round = 6;
// Short as a delay before a program starts.
constexpr double longest_first_round_ns = 20e6;
// Not longer than the time between flushes of the file.
constexpr double longest_round_ns = 200e6;
constexpr unsigned cpu_shift = 32;
// From when a sample is due until its reader looks after it unasked, and then again.
constexpr std::uint64_t wake_after_ns = 100'000;

/// One event. So no sample falls into the handling of the last one. An event that gave no sample
/// falls again after the same time, so a program that runs and idles as regularly would be seen
/// always or never: the time is drawn anew.
class OneByOne : public SampleSource {
  public:
    OneByOne(int cpu, const Sampling& sampling, Intervals intervals)
        : is_fixed_(sampling.spread == Spread::fixed),
          counts_time_(sampling.clock == Clock::software),
          intervals_(intervals),
          event_({-1, cpu}, sampling.clock, sampling.depth, true) {}

    void start() override {
        if (is_fixed_)
            event_.run(intervals_.next_ns());
        else
            arm();
    }

    void serve(SampleSink& sink) override {
        bool sampled = false;
        event_.ring().drain([&](const RawRecord& record) {
            sampled = sampled || record.header->type == PERF_RECORD_SAMPLE;
            sink.take(record);
        });
        const bool is_unseen = !sampled && due_ns_ != 0 && due_ns_ + wake_after_ns < monotonic_ns();
        if (is_unseen) {
            ++delays_.unseen;
            sink.take_unseen(due_ns_);
        }
        if ((sampled || is_unseen) && !is_fixed_)
            arm();
    }

    void finish(SampleSink& sink) override {
        event_.ring().drain([&sink](const RawRecord& record) { sink.take(record); });
    }

    int file() const override { return event_.file(); }
    std::uint64_t wake_ns() const override { return due_ns_ == 0 ? 0 : due_ns_ + wake_after_ns; }
    Delays delays() const override { return delays_; }

  private:
    void arm() {
        const std::uint64_t interval_ns = intervals_.next_ns();
        if (counts_time_)
            due_ns_ = monotonic_ns() + interval_ns;
        event_.sample_once(interval_ns);
    }

    bool is_fixed_;
    bool counts_time_;  // and not cycles, which stand still while a CPU idles
    Intervals intervals_;
    std::uint64_t due_ns_ = 0;  // 0: not known
    Delays delays_;
    SamplingEvent event_;
};

/// One event, which the kernel repeats by itself. A period stays for a round and is drawn anew
/// then, which costs one call a round and not one a sample.
class InPeriods : public SampleSource {
  public:
    InPeriods(int cpu, const Sampling& sampling, Intervals intervals)
        : round_samples_(sampling.round_samples),
          intervals_(intervals),
          event_({-1, cpu}, sampling.clock, sampling.depth, true, EventGroup{nullptr}) {}

    void start() override { begin_round(); }

    void serve(SampleSink& sink) override {
        drain(sink);
        if (monotonic_ns() < wake_ns())
            return;
        end_round(sink, end_ns());
        begin_round();
    }

    void finish(SampleSink& sink) override {
        const std::uint64_t now_ns = monotonic_ns();
        drain(sink);
        end_round(sink, std::min(now_ns, end_ns()));
    }

    int file() const override { return event_.file(); }
    std::uint64_t wake_ns() const override { return end_ns() + after_round_ns; }
    Delays delays() const override { return delays_; }

  private:
    // The last look of a round has come by then, or comes no more.
    static constexpr std::uint64_t after_round_ns = 5'000;

    std::uint64_t end_ns() const { return begin_ns_ + round_samples_ * period_ns_; }

    void begin_round() {
        period_ns_ = intervals_.next_ns();
        begin_ns_ = monotonic_ns();
        event_.postpone(period_ns_);
    }

    void drain(SampleSink& sink) {
        event_.ring().drain([&](const RawRecord& record) {
            if (record.header->type == PERF_RECORD_SAMPLE)
                seen_ns_.push_back(origin_of(record).time_ns);
            sink.take(record);
        });
    }

    /// Tells of each look until `until_ns` that gave no sample within half of a period.
    void end_round(SampleSink& sink, std::uint64_t until_ns) {
        std::size_t at = 0;
        for (std::uint64_t due_ns = begin_ns_ + period_ns_; due_ns <= until_ns;
             due_ns += period_ns_) {
            while (at < seen_ns_.size() && seen_ns_[at] + period_ns_ / 2 < due_ns)
                ++at;
            if (at < seen_ns_.size() && seen_ns_[at] <= due_ns + period_ns_ / 2)
                continue;
            ++delays_.unseen;
            sink.take_unseen(due_ns);
        }
        seen_ns_.clear();
    }

    std::size_t round_samples_;
    Intervals intervals_;
    SamplingEvent event_;
    std::uint64_t begin_ns_ = 0;
    std::uint64_t period_ns_ = 0;
    std::vector<std::uint64_t> seen_ns_;
    Delays delays_;
};

/// An event for each slot of a timetable. Waking a thread costs more than a sample, so it wakes
/// once a round; and by its own timer, since an event that wakes a thread costs an interrupt more.
/// Events that are never off are armed by one call each.
class InRounds : public SampleSource {
  public:
    InRounds(int cpu, const Sampling& sampling, Timetable timetable)
        : timetable_(std::move(timetable)) {
        const SamplingEvent* first = nullptr;
        for (std::size_t slot = 0; slot < timetable_.slots(); ++slot) {
            const auto& event = events_.emplace_back(std::make_unique<SamplingEvent>(
                Watched{-1, cpu}, sampling.clock, sampling.depth, true, EventGroup{first}));
            slots_.emplace(event->identity(), slot);
            first = events_.front().get();
        }
    }

    ~InRounds() override {
        // Those that write to the ring of the first go before it.
        while (!events_.empty())
            events_.pop_back();
    }
    InRounds(const InRounds&) = delete;
    InRounds& operator=(const InRounds&) = delete;

    void start() override {
        timetable_.begin(monotonic_ns, [this](std::size_t slot, std::uint64_t after_ns) {
            events_[slot]->postpone(after_ns);
        });
    }

    void serve(SampleSink& sink) override {
        drain(sink);
        timetable_.go_on(
            monotonic_ns,
            [this](std::size_t slot, std::uint64_t after_ns) { events_[slot]->postpone(after_ns); },
            [&sink](std::uint64_t time_ns) { sink.take_unseen(time_ns); });
    }

    void finish(SampleSink& sink) override {
        const std::uint64_t now_ns = monotonic_ns();
        drain(sink);
        timetable_.end(now_ns, [&sink](std::uint64_t time_ns) { sink.take_unseen(time_ns); });
    }

    int file() const override { return events_.front()->file(); }

    std::uint64_t wake_ns() const override { return timetable_.look_ns(monotonic_ns()); }

    std::uint64_t first_ns() const override { return timetable_.first_ns(); }
    Delays delays() const override { return timetable_.delays(); }

  private:
    void drain(SampleSink& sink) {
        events_.front()->ring().drain([&](const RawRecord& record) {
            if (record.header->type != PERF_RECORD_SAMPLE || is_planned(record))
                sink.take(record);
        });
    }

    bool is_planned(const RawRecord& record) {
        const auto origin = origin_of(record);
        const auto slot = slots_.find(origin.event);
        return slot != slots_.end() && timetable_.take(slot->second, origin.time_ns);
    }

    Timetable timetable_;
    std::vector<std::unique_ptr<SamplingEvent>> events_;
    std::unordered_map<std::uint64_t, std::size_t> slots_;
};

}  // namespace

Intervals intervals_of(int cpu, const Sampling& sampling) {
    return {sampling.spread, sampling.period_ns, sampling.ratio,
            sampling.seed + (static_cast<std::uint64_t>(cpu) << cpu_shift)};
}

std::unique_ptr<SampleSource> cpu_source(int cpu, const Sampling& sampling,
                                         std::size_t most_events) {
    const Intervals intervals = intervals_of(cpu, sampling);
    if (sampling.spread == Spread::rounds && sampling.clock == Clock::software)
        return std::make_unique<InPeriods>(cpu, sampling, intervals);
    // Counters of a processor are few.
    if (sampling.clock != Clock::software || sampling.spread == Spread::fixed ||
        sampling.period_ns > longest_first_round_ns || most_events < rounds)
        return std::make_unique<OneByOne>(cpu, sampling, intervals);
    const double frequent =
        sampling.period_ns < frequent_ns ? most_in_frequent_round : most_in_round;
    const std::size_t allowed = most_events / rounds;
    const double most = std::min(sampling.depth.stack_copy ? most_copies_in_round : frequent,
                                 static_cast<double>(allowed));
    const auto samples_in = [&](double round_ns) {
        return static_cast<std::size_t>(std::clamp(round_ns / sampling.period_ns, 1.0, most));
    };
    return std::make_unique<InRounds>(cpu, sampling,
                                      Timetable(intervals, rounds, samples_in(longest_round_ns),
                                                samples_in(longest_first_round_ns)));
}

}  // namespace steelyard

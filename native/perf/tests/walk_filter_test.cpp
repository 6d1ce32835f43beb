#include "walk_filter.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "event.hpp"
#include "fatal.hpp"
#include "sample_record.hpp"
#include "tests.hpp"

namespace {

using namespace steelyard;

volatile std::uint64_t sink = 0;

[[gnu::noinline]] void compute(std::uint64_t turns) {
    for (std::uint64_t turn = 0; turn < turns; ++turn)
        sink = sink + turn;
}

constexpr std::uint64_t period_ns = 200'000;
// A constant would give `compute` a clone elsewhere.
volatile std::uint64_t turns = 40'000'000;

/// Where this thread was at samples while it computed; those that the filter let pass. Nothing
/// where this user may not sample.
std::optional<std::vector<LookPlace>> places_with(const WalkFilter& filter, bool is_rest = false) {
    constexpr Depth depth{};
    try {
        SamplingEvent event(Watched{0, -1}, Clock::software, depth, false);
        if (is_rest ? !filter.attach_rest(event.file()) : !filter.attach(event.file()))
            return std::nullopt;
        event.run(period_ns);
        compute(turns);
        std::vector<LookPlace> found;
        event.ring().drain([&](const RawRecord& record) {
            if (record.header->type != PERF_RECORD_SAMPLE)
                return;
            if (const auto sample = sample_from(record, depth))
                found.push_back({sample->stack_pointer, sample->user_address});
        });
        return found;
    } catch (const Fatal& fatal) {
        std::printf("no samples here: %s\n", fatal.message.c_str());
        return std::nullopt;
    }
}

}  // namespace

TEST("Looks in code that is not watched copy nothing") {
    const auto filter = WalkFilter::make(0);
    const auto places = filter ? places_with(*filter) : std::nullopt;
    if (!places)
        return;
    CHECK(places->empty());
    CHECK(filter->looks().elsewhere > 0);
    CHECK(filter->looks().elsewhere + filter->looks().spared == filter->looks().all);
}

TEST("A look at a place that is believed is spared, and one that is doubted again is not") {
    const auto filter = WalkFilter::make(0);
    if (!filter)
        return;
    filter->watch(0, UINT64_MAX);
    const auto places = places_with(*filter);
    if (!places)
        return;
    CHECK(!places->empty());
    for (const LookPlace place : *places)
        filter->believe(place);
    const std::size_t left = places_with(*filter).value_or(*places).size();
    CHECK(left < places->size());
    CHECK(filter->looks().spared > 0);
    for (const LookPlace place : *places)
        filter->doubt(place);
    CHECK(places_with(*filter).value_or(std::vector<LookPlace>()).size() > left);
}

TEST("Where each look at a believed place is to be checked, none is spared") {
    const auto filter = WalkFilter::make(1);
    if (!filter)
        return;
    filter->watch(0, UINT64_MAX);
    const auto places = places_with(*filter);
    if (!places)
        return;
    for (const LookPlace place : *places)
        filter->believe(place);
    places_with(*filter);
    CHECK(filter->looks().checked > 0);
    CHECK(filter->looks().spared == 0);
}

TEST("Of two events one has the looks at believed places, and the other the rest") {
    const auto filter = WalkFilter::make_parting();
    if (!filter)
        return;
    CHECK(filter->parts());
    filter->watch(0, UINT64_MAX);
    const auto rest = places_with(*filter, true);
    const auto copied = places_with(*filter);
    if (!rest || !copied)
        return;
    CHECK(!rest->empty());
    CHECK(copied->empty());
    for (const LookPlace place : *rest)
        filter->believe(place);
    CHECK(places_with(*filter, true).value_or(*rest).size() < rest->size());
    CHECK(!places_with(*filter).value_or(*copied).empty());
}

TEST("The rest has looks in code that is not watched too") {
    const auto filter = WalkFilter::make_parting();
    const auto rest = filter ? places_with(*filter, true) : std::nullopt;
    if (rest)
        CHECK(!rest->empty());
}

TEST("What is believed of one instruction holds for its function where that is known") {
    const auto filter = WalkFilter::make(0);
    if (!filter)
        return;
    const auto begin = reinterpret_cast<std::uint64_t>(&compute) & ~std::uint64_t{0xfff};
    constexpr std::uint64_t code_bytes = 0x2000;
    const std::uint64_t function = reinterpret_cast<std::uint64_t>(&compute) - begin;
    filter->watch(begin, begin + code_bytes);
    WalkFilter::Functions functions;
    functions.add(function, function + 64);
    filter->know(functions);
    const auto places = places_with(*filter);
    if (!places || places->empty())
        return;
    // Of the loop the stack pointer is one; of its first and last instructions it may be others.
    filter->believe({places->front().stack_pointer, begin + function});
    CHECK(places_with(*filter).value_or(*places).size() < places->size() / 4 + 1);
    CHECK(filter->looks().spared > 0);
    filter->know({});
    CHECK(places_with(*filter).value_or(std::vector<LookPlace>()).size() > places->size() / 4);
}

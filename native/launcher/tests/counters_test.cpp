#include "counters.hpp"

#include "fatal.hpp"
#include "tests.hpp"

using namespace steelyard;

TEST("a count that shared the hardware is scaled by enabled over running time") {
    CHECK(scaled_count(1000, 400, 100) == 4000);
    CHECK(scaled_count(1000, 300, 200) == 1500);
}

TEST("a count that had the hardware to itself is left exact") {
    CHECK(scaled_count((1ULL << 60) + 1, 100, 100) == (std::int64_t{1} << 60) + 1);
}

TEST("a counter that never ran has no count") {
    CHECK(!scaled_count(0, 100, 0));
}

TEST("an unknown counter is refused") {
    Counters counters;
    bool refused = false;
    try {
        counters.add("unicorns");
    } catch (const Fatal&) {
        refused = true;
    }
    CHECK(refused);
}

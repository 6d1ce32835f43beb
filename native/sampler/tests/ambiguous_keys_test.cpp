#include "ambiguous_keys.hpp"

#include <sstream>

#include "fatal.hpp"
#include "tests.hpp"

namespace {

using steelyard::AmbiguousKeys;
using steelyard::Fatal;
using steelyard::RemainingPaths;

AmbiguousKeys keys_in(const char* lines) {
    std::istringstream stream(lines);
    return AmbiguousKeys::read(stream);
}

constexpr const char* lines = "part 16 16\npart 99 16\nkey 16 480\npath 32 64\npath 48 64\n";

}  // namespace

TEST("A key is found by its function, or by a part of that, and its height") {
    const AmbiguousKeys keys = keys_in(lines);
    CHECK(keys.paths_of(16, 480) != nullptr);
    CHECK(keys.paths_of(99, 480) == keys.paths_of(16, 480));
    CHECK(keys.paths_of(16, 496) == nullptr);
    CHECK(keys.paths_of(32, 480) == nullptr);
}

TEST("The first caller that one path alone has tells it") {
    const AmbiguousKeys keys = keys_in("key 16 480\npath 32 64\npath 32 80\npath 48 64\n");
    RemainingPaths left(*keys.paths_of(16, 480));
    CHECK(!left.is_told());
    left.take(32);
    CHECK(!left.is_told());
    left.take(80);
    CHECK(left.is_told());
}

TEST("A caller that no path has ends the walk, as does one beyond the end of every path") {
    const AmbiguousKeys keys = keys_in(lines);
    RemainingPaths left(*keys.paths_of(16, 480));
    left.take(5);
    CHECK(left.is_told());
    const AmbiguousKeys short_keys = keys_in("key 16 480\npath\npath 48\n");
    RemainingPaths others(*short_keys.paths_of(16, 480));
    others.take(48);
    CHECK(others.is_told());
}

TEST("Lines that are damaged are refused") {
    for (const char* bad : {"key 1", "key x 2", "path 3", "other 1 2", "part 1 2 y"}) {
        bool is_refused = false;
        try {
            keys_in(bad);
        } catch (const Fatal&) {
            is_refused = true;
        }
        CHECK(is_refused);
    }
}

#include "library_steps.hpp"

#include <memory>

#include "tests.hpp"

using steelyard::LibrarySteps;

TEST("a step is found by its return address alone") {
    const auto steps = std::make_unique<LibrarySteps>();
    CHECK(steps->find(0x7f0012345678) == nullptr);
    steps->remember({0x7f0012345678, 48, 16, true});
    const auto* const found = steps->find(0x7f0012345678);
    CHECK(found != nullptr);
    CHECK(found->distance == 48 && found->frame_pointer_below == 16 && found->by_frame_pointer);
    CHECK(steps->find(0x7f0012345679) == nullptr);
}

TEST("a step that shares its place with another is not taken for it") {
    const auto steps = std::make_unique<LibrarySteps>();
    constexpr std::uint64_t first = 0x7f0000000000, count = 10'000;
    for (std::uint64_t number = 0; number < count; ++number)
        steps->remember({first + number, static_cast<std::uint32_t>(number), 0, false});
    std::uint64_t found_count = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
        const auto* const found = steps->find(first + number);
        CHECK(found == nullptr || found->distance == number);
        found_count += found != nullptr ? 1 : 0;
    }
    CHECK(found_count > 0 && found_count < count);
}

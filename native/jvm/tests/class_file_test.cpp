#include "class_file.hpp"

#include <algorithm>
#include <string>

#include "tests.hpp"

namespace {

using steelyard::Bytes;

bool holds(const Bytes& bytes, const std::string& text) {
    return !std::ranges::search(bytes, text).empty();
}

}  // namespace

TEST("a class without the method, or no class at all, is left alone") {
    const Bytes plain = steelyard::delay_class_file();
    CHECK(!steelyard::with_delay(plain, "run"));
    CHECK(!steelyard::with_delay(plain, "<init>"));
    const Bytes nonsense{1, 2, 3};
    CHECK(!steelyard::with_delay(nonsense, "run"));
}

TEST("a class file that is cut short anywhere is left alone") {
    const Bytes plain = steelyard::delay_class_file();
    for (std::size_t length = 0; length < plain.size(); ++length)
        CHECK(!steelyard::with_delay(std::span(plain).first(length), "run"));
}

TEST("the class of the delay has the fields that the delay asks for") {
    const Bytes plain = steelyard::delay_class_file();
    CHECK(holds(plain, "steelyard/Delay"));
    CHECK(holds(plain, "turns"));
    CHECK(holds(plain, "sink"));
}

#include "size_classes.hpp"

#include "tests.hpp"

using namespace steelyard::layout;

TEST("every size has the smallest class that holds it") {
    for (std::size_t size = 1; size <= largest_small_bytes; ++size) {
        const std::size_t index = class_for(size);
        const bool holds = index < class_count && class_bytes(index) >= size;
        const bool smallest = index == 0 || class_bytes(index - 1) < size;
        if (!holds || !smallest) {
            CHECK(holds && smallest);
            break;
        }
    }
}

TEST("powers of two are classes of their own, as alignment needs") {
    for (std::size_t size = granule_bytes; size <= largest_small_bytes; size *= 2)
        CHECK(class_bytes(class_for(size)) == size);
    CHECK(class_bytes(class_for(0)) == granule_bytes);
}

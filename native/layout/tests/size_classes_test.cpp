#include "size_classes.hpp"

#include "chunks.hpp"
#include "tests.hpp"

using namespace steelyard::layout;

TEST("every size has the smallest class that holds it") {
    for (std::size_t size = 1; size <= largest_small_bytes; ++size) {
        const std::size_t index = class_for(size);
        const bool holds = index < plain_classes && class_bytes(index) >= size;
        bool smallest = true;
        for (std::size_t other = 0; other < plain_classes; ++other)
            smallest &= class_bytes(other) < size || class_bytes(other) >= class_bytes(index);
        if (!holds || !smallest) {
            CHECK(holds && smallest);
            break;
        }
    }
}

TEST("a class for an alignment is the smallest power of two that has both") {
    for (std::size_t alignment = granule_bytes; alignment <= largest_small_bytes; alignment *= 2) {
        for (std::size_t size = 1; size <= largest_small_bytes; size += size / 7 + 1) {
            std::size_t power = alignment;
            while (power < size)
                power *= 2;
            const std::size_t index = aligned_class_for(alignment, size);
            const bool lies_on_multiples = power <= cache_line_bytes || index >= plain_classes ||
                                           alignment <= cache_line_bytes;
            if (class_bytes(index) != power || !lies_on_multiples) {
                CHECK(class_bytes(index) == power && lies_on_multiples);
                return;
            }
        }
    }
    CHECK(class_bytes(class_for(0)) == granule_bytes);
}

TEST("objects of a class fit into its chunks and lie in every line that an index bit tells apart") {
    for (std::size_t index = 0; index < plain_classes; ++index) {
        const auto [run_objects, gap_bytes] = spacing(index);
        std::size_t place = 0;
        std::size_t ones[6] = {};
        const std::size_t count = chunk_objects(index);
        for (std::size_t number = 0; number < count; ++number) {
            place = number * class_bytes(index) + number / run_objects * gap_bytes;
            for (std::size_t bit = 0; bit < 6; ++bit)
                ones[bit] += place / cache_line_bytes >> bit & 1U;
        }
        CHECK(place + class_bytes(index) <= chunk_bytes(index));
        // Pairs of lines stay in step.
        const std::size_t first = class_bytes(index) == 2 * cache_line_bytes ? 1 : 0;
        for (std::size_t bit = first; bit < 6; ++bit) {
            const auto share = static_cast<double>(ones[bit]) / static_cast<double>(count);
            CHECK(share > 0.35 && share < 0.65);
        }
    }
}

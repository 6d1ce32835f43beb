#include "page_order.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t page_bytes = 4096, word_bits = 64;
constexpr Name page_granules = page_bytes / granule_bytes;
constexpr std::size_t most_pages = largest_chunk_bytes() / page_bytes;

/// The free objects of a chunk: a bit for each granule that one begins at.
class FreeObjects {
  public:
    FreeObjects(const Name* names, std::uint32_t many) : start_(chunk_start(names[0])) {
        for (std::uint32_t at = 0; at < many; ++at) {
            const Name granule = names[at] - start_;
            words_[granule / word_bits] |= std::uint64_t{1} << granule % word_bits;
        }
    }
    /// Writes those between two granules before `into`, the lowest last; where they now begin.
    Name* write(Name from, Name until, Name* into) const {
        for (Name word = from / word_bits; word * word_bits < until; ++word) {
            std::uint64_t bits = words_[word];
            if (word == from / word_bits)
                bits &= ~std::uint64_t{0} << from % word_bits;
            if (until - word * word_bits < word_bits)
                bits &= ~(~std::uint64_t{0} << until % word_bits);
            for (; bits != 0; bits &= bits - 1)
                *--into = start_ + word * static_cast<Name>(word_bits) +
                          static_cast<Name>(__builtin_ctzll(bits));
        }
        return into;
    }

  private:
    Name start_;
    std::uint64_t words_[largest_chunk_bytes() / granule_bytes / word_bits] = {};
};

}  // namespace

void order_by_pages(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                    PageStart start, Name* into) {
    const FreeObjects objects(names, many);
    Name* place = into + many;  // the last is given first
    std::uint32_t pages[most_pages];
    const auto page_count = static_cast<std::uint32_t>(chunk_bytes(index) / page_bytes);
    for (std::uint32_t at = 0; at < page_count; ++at) {
        const std::uint32_t other = random.below(at + 1);
        pages[at] = pages[other];
        pages[other] = at;
    }
    for (std::uint32_t at = 0; at < page_count; ++at) {
        const Name low = pages[at] * page_granules;
        const Name first = start == PageStart::lowest ? low : low + random.below(page_granules);
        place = objects.write(first, low + page_granules, place);
        place = objects.write(low, first, place);
    }
}

}  // namespace steelyard::layout

#include "groups.hpp"

namespace steelyard::layout {

namespace {

// Of a program that builds something, neighbours in time stay in neighbourhoods of some groups, and
// the groups of one follow each other: what walks along the objects later would else wait for
// memory at each of them, as the prefetchers of caches see no order in random lines.
constexpr std::size_t group_bytes = 1024;
constexpr std::uint32_t fewest_in_group = 4;
constexpr std::uint32_t groups_a_neighbourhood = 4;
constexpr std::uint32_t most_groups = 320;

constexpr std::uint32_t group_objects(std::size_t index) {
    const std::size_t objects = group_bytes / class_bytes(index);
    return objects < fewest_in_group ? fewest_in_group : static_cast<std::uint32_t>(objects);
}

constexpr std::uint32_t group_count(std::size_t index) {
    const std::size_t bytes = group_objects(index) * class_bytes(index);
    return static_cast<std::uint32_t>((chunk_bytes(index) + bytes - 1) / bytes);
}

constexpr bool groups_are_few() {
    for (std::size_t index = 0; index < class_count; ++index) {
        if (group_count(index) + groups_a_neighbourhood > most_groups)
            return false;
    }
    return true;
}
static_assert(groups_are_few());

/// Neighbourhoods in random order, each with its groups from a random one on, the last to be given
/// first; how many groups there are, some of them perhaps beyond the chunk.
std::uint32_t order_groups(Random& random, std::size_t index, std::uint32_t* order) {
    std::uint32_t hoods[most_groups / groups_a_neighbourhood];
    const std::uint32_t count =
        (group_count(index) + groups_a_neighbourhood - 1) / groups_a_neighbourhood;
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t other = random.below(at + 1);
        hoods[at] = hoods[other];
        hoods[other] = at;
    }
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t first = random.below(groups_a_neighbourhood);
        for (std::uint32_t turn = 0; turn < groups_a_neighbourhood; ++turn) {
            const std::uint32_t group = (first - turn) % groups_a_neighbourhood;
            *order++ = hoods[at] * groups_a_neighbourhood + group;
        }
    }
    return count * groups_a_neighbourhood;
}

}  // namespace

void order_by_groups(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                     Name* into) {
    const auto bytes = static_cast<Name>(class_bytes(index) / granule_bytes) * group_objects(index);
    const Name start = chunk_start(names[0]);
    std::uint32_t ends[most_groups] = {};
    for (std::uint32_t at = 0; at < many; ++at)
        ++ends[(names[at] - start) / bytes];
    std::uint32_t order[most_groups];
    const std::uint32_t count = order_groups(random, index, order);
    std::uint32_t begins[most_groups];
    std::uint32_t begin = 0;
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t size = ends[order[at]];
        begins[order[at]] = ends[order[at]] = begin;
        begin += size;
    }
    // Each object goes to a random place among those of its group that are there already.
    for (std::uint32_t at = 0; at < many; ++at) {
        const std::uint32_t where = (names[at] - start) / bytes;
        const std::uint32_t last = ends[where]++;
        const std::uint32_t other = begins[where] + random.below(last - begins[where] + 1);
        into[last] = into[other];
        into[other] = names[at];
    }
}

void order_by_pages(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                    Name* into) {
    constexpr Name page_granules = 4096 / granule_bytes;
    constexpr std::size_t most_bytes = largest_chunk_bytes();
    constexpr std::size_t most_pages = most_bytes / 4096, word_bits = 64;
    std::uint64_t is_free[most_bytes / granule_bytes / word_bits] = {};
    const Name start = chunk_start(names[0]);
    for (std::uint32_t at = 0; at < many; ++at) {
        const Name granule = names[at] - start;
        is_free[granule / word_bits] |= std::uint64_t{1} << granule % word_bits;
    }
    std::uint32_t pages[most_pages];
    const auto page_count = static_cast<std::uint32_t>(chunk_bytes(index % class_count) / 4096);
    for (std::uint32_t at = 0; at < page_count; ++at) {
        const std::uint32_t other = random.below(at + 1);
        pages[at] = pages[other];
        pages[other] = at;
    }
    // The last of `into` is given first.
    for (std::uint32_t at = 0; at < page_count; ++at) {
        const Name first = pages[at] * page_granules;
        for (Name word = first / word_bits; word < (first + page_granules) / word_bits; ++word) {
            for (std::uint64_t bits = is_free[word]; bits != 0; bits &= bits - 1)
                into[--many] = start + word * word_bits + static_cast<Name>(__builtin_ctzll(bits));
        }
    }
}

}  // namespace steelyard::layout

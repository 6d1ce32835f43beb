#include "walked_keys.hpp"

#include <utility>

namespace steelyard {

Belief WalkedKeys::walked(const WalkedKey& key, LookPlace place, std::uint64_t path) {
    Known& known = keys_[key];
    Belief change;
    if (known.paths.insert(path).second) {
        known.walks = 0;
        known.is_believed = false;
        change.doubted = std::exchange(known.places, {});
    }
    ++known.walks;
    const unsigned wanted = known.paths.size() == 1 ? walks_of_one : walks_of_several;
    known.is_believed = known.is_believed || known.walks >= wanted;
    if (known.is_believed) {
        known.places.push_back(place);
        change.believed.push_back(place);
    }
    return change;
}

}  // namespace steelyard

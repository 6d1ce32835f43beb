#include "ambiguous_keys.hpp"

#include <fstream>
#include <sstream>

#include "fatal.hpp"

namespace steelyard {

namespace {

Callers numbers_in(std::istream& words, std::size_t at_least) {
    Callers found;
    for (std::uint64_t number = 0; words >> number;)
        found.push_back(number);
    if (!words.eof() || found.size() < at_least)
        throw Fatal("The keys whose stacks are to be walked cannot be read.");
    return found;
}

}  // namespace

AmbiguousKeys AmbiguousKeys::read(std::istream& lines) {
    AmbiguousKeys keys;
    std::vector<Callers>* paths = nullptr;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        const Callers numbers = numbers_in(words, kind == "path" ? 0 : 2);
        if (kind == "part")
            keys.whole_[numbers[0]] = numbers[1];
        else if (kind == "key")
            paths = &keys.paths_[{numbers[0], numbers[1]}];
        else if (kind == "path" && paths != nullptr)
            paths->push_back(numbers);
        else
            throw Fatal("The keys whose stacks are to be walked have a line '" + kind + "'.");
    }
    return keys;
}

AmbiguousKeys AmbiguousKeys::read_file(const std::string& path) {
    std::ifstream lines(path);
    if (!lines)
        throw Fatal("The keys whose stacks are to be walked, " + path + ", cannot be opened.");
    return read(lines);
}

const std::vector<Callers>* AmbiguousKeys::paths_of(std::uint64_t part,
                                                    std::uint64_t height) const {
    const auto found = paths_.find({whole(part), height});
    return found == paths_.end() ? nullptr : &found->second;
}

std::uint64_t AmbiguousKeys::whole(std::uint64_t part) const {
    const auto found = whole_.find(part);
    return found == whole_.end() ? part : found->second;
}

RemainingPaths::RemainingPaths(const std::vector<Callers>& paths) {
    for (const Callers& path : paths)
        left_.push_back(&path);
}

void RemainingPaths::take(std::uint64_t caller) {
    std::erase_if(left_, [&](const Callers* path) {
        return path->size() <= depth_ || (*path)[depth_] != caller;
    });
    ++depth_;
}

}  // namespace steelyard

// Counts, sorts and looks up the words of a text, under Google Benchmark.
//
//     words INPUT REPETITIONS
//
// Standard output has the checksum of the result alone.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

using Count = std::pair<std::string_view, std::uint64_t>;

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        if (end > 0)
            words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::vector<Count> counted(const std::vector<std::string_view>& words) {
    std::unordered_map<std::string, std::uint64_t> counts;
    for (const auto word : words)
        ++counts[std::string(word)];
    std::vector<Count> found;
    for (const auto word : words) {
        const auto count = counts.find(std::string(word));
        if (count != counts.end()) {
            found.emplace_back(word, count->second);
            counts.erase(count);
        }
    }
    std::sort(found.begin(), found.end(), [](const Count& left, const Count& right) {
        return left.second != right.second ? left.second > right.second : left.first < right.first;
    });
    return found;
}

std::uint64_t checksum(std::string_view text) {
    std::uint64_t sum = CHECKSUM_START;
    for (const auto& [word, count] : counted(split(text))) {
        for (const char letter : word)
            sum = checksum_add(sum, static_cast<unsigned char>(letter));
        sum = checksum_add(sum, count);
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::cerr << "Usage: words INPUT REPETITIONS\n";
        return 2;
    }
    const std::string text = read_input(argv[1]);
    const auto found = benchmarked("words", repetitions(argv[2]), [&] { return checksum(text); });
    std::printf("gbench-words %016llx\n", static_cast<unsigned long long>(found));
    return 0;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 2;
}

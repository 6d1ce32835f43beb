// Counts, sorts and looks up the words of a text, under Google Benchmark.
//
//     words INPUT REPETITIONS
//
// A repetition runs the work once and is an iteration of Steelyard's. Google Benchmark's table goes
// to standard error, its JSON to the file that Steelyard names. Standard output has the checksum of
// the result alone. STEELYARD_ITERATION_COUNT goes before REPETITIONS.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Count = std::pair<std::string_view, std::uint64_t>;

std::string read_input(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

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
    std::uint64_t sum = 0xcbf29ce484222325U;
    const auto add = [&sum](std::uint64_t value) {
        sum = (sum ^ value) * 0x100000001b3U;
        sum ^= sum >> 29;
    };
    for (const auto& [word, count] : counted(split(text))) {
        for (const char letter : word)
            add(static_cast<unsigned char>(letter));
        add(count);
    }
    return sum;
}

std::string repetitions(const char* argument) {
    const char* asked = std::getenv("STEELYARD_ITERATION_COUNT");
    std::string text = asked != nullptr && *asked != '\0' ? asked : argument;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
        throw std::runtime_error("REPETITIONS must be a whole number, not '" + text + "'");
    return text;
}

void run(const std::string& text, std::uint64_t expected, const std::string& count) {
    std::vector<std::string> words{"words", "--benchmark_repetitions=" + count};
    const char* file = std::getenv("STEELYARD_ITERATIONS");
    if (file != nullptr && *file != '\0') {
        words.push_back(std::string("--benchmark_out=") + file);
        words.emplace_back("--benchmark_out_format=json");
    }
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    int argument_count = static_cast<int>(arguments.size());
    benchmark::Initialize(&argument_count, arguments.data());
    benchmark::RegisterBenchmark(
        "words",
        [&](benchmark::State& state) {
            for ([[maybe_unused]] auto unused : state) {
                if (checksum(text) != expected)
                    throw std::runtime_error("an iteration differs from the first one");
            }
        })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
    benchmark::ConsoleReporter table(benchmark::ConsoleReporter::OO_None);
    table.SetOutputStream(&std::cerr);
    table.SetErrorStream(&std::cerr);
    benchmark::RunSpecifiedBenchmarks(&table);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::cerr << "Usage: words INPUT REPETITIONS\n";
        return 2;
    }
    const std::string text = read_input(argv[1]);
    const std::uint64_t expected = checksum(text);
    run(text, expected, repetitions(argv[2]));
    std::printf("gbench-words %016llx\n", static_cast<unsigned long long>(expected));
    return 0;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 2;
}

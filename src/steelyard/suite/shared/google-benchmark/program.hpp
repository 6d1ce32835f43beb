// What the suite's programs under Google Benchmark share: the input, how often to repeat, the run.
// C++17. Each program includes it once and gives its work to `benchmarked`.
//
// A repetition runs the work once and is an iteration of Steelyard's. Google Benchmark's table goes
// to standard error, its JSON to the file that Steelyard names. STEELYARD_ITERATION_COUNT goes
// before the program's own count.
#ifndef PROGRAM_HPP
#define PROGRAM_HPP

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

inline std::string read_input(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::uint64_t checksum_add(std::uint64_t sum, std::uint64_t value) {
    sum = (sum ^ value) * 0x100000001b3U;
    return sum ^ (sum >> 29);
}

constexpr std::uint64_t CHECKSUM_START = 0xcbf29ce484222325U;

// A whole number in decimal digits; `name` is what the usage calls it.
inline std::string whole_number(const std::string& name, const std::string& text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
        throw std::runtime_error(name + " must be a whole number, not '" + text + "'");
    return text;
}

inline std::string repetitions(const char* argument) {
    const char* asked = std::getenv("STEELYARD_ITERATION_COUNT");
    return whole_number("REPETITIONS", asked != nullptr && *asked != '\0' ? asked : argument);
}

// Repeats `work`, whose checksum is to be the same each time, and gives that checksum.
template <typename Work>
std::uint64_t benchmarked(const std::string& name, const std::string& count, const Work& work) {
    std::optional<std::uint64_t> expected;
    std::vector<std::string> words{name, "--benchmark_repetitions=" + count};
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
        name.c_str(),
        [&](benchmark::State& state) {
            for ([[maybe_unused]] auto unused : state) {
                const std::uint64_t found = work();
                if (found != expected.value_or(found))
                    throw std::runtime_error("an iteration differs from the first one");
                expected = found;
            }
        })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
    benchmark::ConsoleReporter table(benchmark::ConsoleReporter::OO_None);
    table.SetOutputStream(&std::cerr);
    table.SetErrorStream(&std::cerr);
    benchmark::RunSpecifiedBenchmarks(&table);
    if (!expected)
        throw std::runtime_error("Google Benchmark ran no iteration");
    return *expected;
}

#endif

// Formats numbers and words, into memory and into new strings.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int, char** words) {
    std::size_t sum = 0;
    std::vector<std::string> kept(256);
    for (int round = std::atoi(words[1]); round > 0; --round) {
        fmt::memory_buffer buffer;
        for (int index = 0; index < 1000; ++index) {
            fmt::format_to(std::back_inserter(buffer), "{:08x} {:>12} {:.6g} {}\n", index * round,
                           "word", index / 7.0, index);
            kept[static_cast<std::size_t>(index) % kept.size()] =
                fmt::format("{0}-{1:+d}-{0:e}", index * 0.1, index);
        }
        sum += buffer.size() + kept[17].size();
    }
    std::printf("%zu\n", sum);
    return 0;
}

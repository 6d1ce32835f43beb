// Packs and unpacks text that a fixed generator writes.
#include "snappy.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int, char** words) {
    static const char* const parts[] = {"steel",    "yard ", "balance ", "arm ",
                                        "weight, ", "42 ",   "of the ",  "\n"};
    std::string text;
    std::uint64_t state = 1;
    while (text.size() < (1u << 20)) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        text += parts[state >> 61];
        text += static_cast<char>('a' + (state >> 40) % 26);
    }
    std::size_t sum = 0;
    for (int round = std::atoi(words[1]); round > 0; --round) {
        std::string packed, back;
        snappy::Compress(text.data(), text.size(), &packed);
        if (!snappy::Uncompress(packed.data(), packed.size(), &back) || back != text)
            return 1;
        sum += packed.size();
        text[static_cast<std::size_t>(round) * 977 % text.size()] ^= 1;
    }
    std::printf("%zu\n", sum);
    return 0;
}

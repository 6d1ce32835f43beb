// The messages that the launcher takes, and their numbers.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fatal.hpp"
#include "protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view content(reinterpret_cast<const char*>(data), size);
    steelyard::Fields fields;
    try {
        steelyard::split_fields(content, fields);
        for (const std::string_view field : fields)
            steelyard::integer(field);
    } catch (const steelyard::Fatal&) {
        // What is no message ends the launcher with a sentence.
    }
    return 0;
}

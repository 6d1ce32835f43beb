// What the agent is asked for: "KEY=VALUE,KEY=VALUE", values in percent-encoding, so that a file
// may have any name.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard {

struct AgentOptions {
    std::string map_path;                 ///< write the code map here, the process id behind a dash
    std::string times_path;               ///< write processor times of the threads here at the end
    std::string safepoint_path;           ///< sample at safepoints, and write the profile here
    std::uint64_t period_ns = 1'000'000;  ///< of the sampler at safepoints
    std::string delayed_class;            ///< as in a class file: java/util/HashMap
    std::string delayed_method;           ///< delay every method of this name
    std::int32_t amount = 0;              ///< turns of the delay's loop a call
};

/// Throws Fatal for what it does not understand.
AgentOptions agent_options_from(std::string_view text);

}  // namespace steelyard

#include "limits.hpp"

#include <array>
#include <string>

namespace steelyard {

namespace {

struct Named {
    std::string_view name;
    int resource;
};

constexpr std::array resources{
    Named{"AS", RLIMIT_AS},
    Named{"CORE", RLIMIT_CORE},
    Named{"CPU", RLIMIT_CPU},
    Named{"DATA", RLIMIT_DATA},
    Named{"FSIZE", RLIMIT_FSIZE},
    Named{"LOCKS", RLIMIT_LOCKS},
    Named{"MEMLOCK", RLIMIT_MEMLOCK},
    Named{"MSGQUEUE", RLIMIT_MSGQUEUE},
    Named{"NICE", RLIMIT_NICE},
    Named{"NOFILE", RLIMIT_NOFILE},
    Named{"NPROC", RLIMIT_NPROC},
    Named{"RSS", RLIMIT_RSS},
    Named{"RTPRIO", RLIMIT_RTPRIO},
    Named{"RTTIME", RLIMIT_RTTIME},
    Named{"SIGPENDING", RLIMIT_SIGPENDING},
    Named{"STACK", RLIMIT_STACK},
};

}  // namespace

std::optional<int> resource_by_name(std::string_view name) {
    std::string upper(name);
    for (char& letter : upper) {
        if (letter >= 'a' && letter <= 'z')
            letter = static_cast<char>(letter - 'a' + 'A');
    }
    for (const auto& known : resources) {
        if (known.name == upper)
            return known.resource;
    }
    return std::nullopt;
}

}  // namespace steelyard

// The exception by which a native program stops: it carries the message that a person reads.

#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace steelyard {

/// A native program cannot go on. What it had finished is written; the message is for a person.
struct Fatal {
    std::string message;

    explicit Fatal(std::string text) : message(std::move(text)) {}

    /// `text` with the error that errno holds.
    static Fatal with_errno(const std::string& text) {
        return Fatal(text + ": " + std::strerror(errno) + ".");
    }
};

}  // namespace steelyard

#include "protocol.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr std::size_t longest_length = 20;

enum class Netstring { whole, partial, malformed };

Netstring parse(std::string_view text, std::size_t& start, std::size_t& length) {
    const std::size_t colon = text.substr(0, longest_length).find(':');
    if (colon == std::string_view::npos) {
        return text.size() < longest_length ? Netstring::partial : Netstring::malformed;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, length);
    if (error != std::errc{} || end != text.data() + colon)
        return Netstring::malformed;
    start = colon + 1;
    if (text.size() < start + length + 1)
        return Netstring::partial;
    return text[start + length] == ',' ? Netstring::whole : Netstring::malformed;
}

}  // namespace

bool MessageReader::frame(std::size_t& start, std::size_t& length) const {
    const auto text = std::string_view(buffer_).substr(offset_);
    switch (parse(text, start, length)) {
        case Netstring::whole:
            return true;
        case Netstring::partial:
            return false;
        case Netstring::malformed:
            break;
    }
    throw Fatal("The launcher was sent something that is no message.");
}

bool MessageReader::has_message() const {
    std::size_t start = 0;
    std::size_t length = 0;
    return frame(start, length);
}

MessageReader::Result MessageReader::fill() {
    buffer_.erase(0, offset_);
    offset_ = 0;
    const std::size_t held = buffer_.size();
    buffer_.resize(held + read_size);
    const ssize_t got = ::read(descriptor_, buffer_.data() + held, read_size);
    const int error = errno;
    buffer_.resize(held + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got > 0)
        return Result::message;
    if (got < 0 && error == EINTR)
        return Result::interrupted;
    return Result::end;
}

MessageReader::Result MessageReader::next(Fields& fields) {
    std::size_t start = 0;
    std::size_t length = 0;
    while (!frame(start, length)) {
        if (const Result result = fill(); result != Result::message)
            return result;
    }
    split_fields(std::string_view(buffer_).substr(offset_ + start, length), fields);
    offset_ += start + length + 1;
    return Result::message;
}

void split_fields(std::string_view content, Fields& fields) {
    fields.clear();
    while (!content.empty()) {
        std::size_t start = 0;
        std::size_t length = 0;
        if (parse(content, start, length) != Netstring::whole) {
            throw Fatal("A message to the launcher has a malformed field.");
        }
        fields.push_back(content.substr(start, length));
        content.remove_prefix(start + length + 1);
    }
    if (fields.empty())
        throw Fatal("A message to the launcher is empty.");
}

std::int64_t integer(std::string_view field) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size()) {
        throw Fatal("A message to the launcher has '" + std::string(field) + "' for a number.");
    }
    return value;
}

}  // namespace steelyard

// Reads the messages by which Python tells the launcher what to run.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard {

/// The fields of one message. They point into the reader and hold until its next call.
using Fields = std::vector<std::string_view>;

/// Reads messages from a descriptor. A message is a netstring whose content is netstrings again,
/// one per field: `15:3:run,1:0,3:abc,,`. Every byte may stand in a field.
class MessageReader {
  public:
    enum class Result { message, end, interrupted };

    explicit MessageReader(int descriptor) : descriptor_(descriptor) {}

    /// Whether `next` would return a message without reading.
    bool has_message() const;

    /// The next message; blocks until there is one. `end`: the other side has closed.
    /// `interrupted`: a signal came first. Throws Fatal on what is no message.
    Result next(Fields& fields);

  private:
    bool frame(std::size_t& start, std::size_t& length) const;
    Result fill();

    int descriptor_;
    std::string buffer_;
    std::size_t offset_ = 0;
};

/// Splits the content of a message into its fields. Throws Fatal where it is malformed.
void split_fields(std::string_view content, Fields& fields);

/// A decimal integer that takes up the whole field. Throws Fatal otherwise.
std::int64_t integer(std::string_view field);

}  // namespace steelyard

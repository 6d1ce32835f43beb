// Where the standard input, output and errors of the programs come from and go to.

#pragma once

#include <cstdint>
#include <string>

namespace steelyard {

/// The standard streams of the programs.
///
/// The launcher itself has an empty input, a discarded output and a file for errors at 0, 1 and
/// 2, so that the usual child inherits them and redirects nothing.
class Streams {
  public:
    Streams(std::string directory, bool keep_output, std::int64_t cap_bytes);
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    ~Streams();

    /// Opens the files of one trial. False, with errno set, where `input` cannot be opened.
    bool open_trial(const std::string& input, std::int64_t position);

    /// Closes them.
    void close_trial();

    int input() const { return input_; }
    int output() const { return output_; }

    /// Where the output of the open trial goes; empty where it is discarded.
    const std::string& output_path() const { return output_path_; }

    /// Whether the files have grown past the cap.
    bool flooded() const;

    /// Empties the file of errors and gives its last part where that is asked for.
    std::string take_errors(bool wanted);

  private:
    std::string directory_;
    bool keep_output_;
    std::int64_t cap_bytes_;
    std::string output_path_;
    int input_ = -1;
    int output_ = -1;
};

}  // namespace steelyard

// A file of a test's own.

#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Empty, in the folder for such files (TMPDIR); goes when the test ends.
class TemporaryFile {
  public:
    TemporaryFile()
        : path_((std::filesystem::temp_directory_path() / "steelyard-XXXXXX").string()) {
        close(mkstemp(path_.data()));
    }
    ~TemporaryFile() { unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

    std::string content() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::string path_;
};

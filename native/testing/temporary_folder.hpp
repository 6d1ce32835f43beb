// A folder of a test's own.

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Empty, in the folder for such (TMPDIR); goes when the test ends.
class TemporaryFolder {
  public:
    TemporaryFolder()
        : path_((std::filesystem::temp_directory_path() / "steelyard-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr)
            path_.clear();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty())
            std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    /// The path of a file in it.
    std::string at(const std::string& name) const { return path_ + '/' + name; }
    const std::string& path() const { return path_; }

    /// Makes a file in it.
    void put(const std::string& name, const std::string& content) const {
        std::ofstream(at(name), std::ios::binary) << content;
    }

    /// What a file in it holds.
    std::string content(const std::string& name) const {
        std::ifstream file(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::string path_;
};

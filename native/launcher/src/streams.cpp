#include "streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr off_t tail_bytes = 4096;

void put_at(int wanted, int found, const std::string& what) {
    if (found < 0)
        throw Fatal::with_errno("The launcher cannot open " + what);
    if (found == wanted)
        return;
    if (dup2(found, wanted) < 0)
        throw Fatal::with_errno("The launcher cannot place " + what);
    close(found);
}

off_t size_of(int file) {
    struct stat status{};
    return file >= 0 && fstat(file, &status) == 0 ? status.st_size : 0;
}

void close_file(int& file) {
    if (file >= 0)
        close(file);
    file = -1;
}

}  // namespace

Streams::Streams(std::string directory, bool keep_output, std::int64_t cap_bytes)
    : directory_(std::move(directory)), keep_output_(keep_output), cap_bytes_(cap_bytes) {
    const std::string errors = directory_ + "/stderr";
    put_at(STDIN_FILENO, open("/dev/null", O_RDONLY), "/dev/null");
    put_at(STDOUT_FILENO, open("/dev/null", O_WRONLY), "/dev/null");
    put_at(STDERR_FILENO, open(errors.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600),
           "'" + errors + "'");
}

Streams::~Streams() {
    close_trial();
}

bool Streams::open_trial(const std::string& input, std::int64_t position) {
    if (!input.empty()) {
        input_ = open(input.c_str(), O_RDONLY | O_CLOEXEC);
        if (input_ < 0)
            return false;
    }
    if (keep_output_) {
        output_path_ = directory_ + '/' + std::to_string(position) + ".out";
        output_ =
            open(output_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
        if (output_ < 0)
            throw Fatal::with_errno("The output file '" + output_path_ + "' cannot be made");
    }
    return true;
}

void Streams::close_trial() {
    close_file(input_);
    close_file(output_);
}

bool Streams::flooded() const {
    return std::max(size_of(output_), size_of(STDERR_FILENO)) > cap_bytes_;
}

std::string Streams::take_errors(bool wanted) {
    const off_t size = size_of(STDERR_FILENO);
    if (size == 0)
        return {};
    std::string tail;
    if (wanted) {
        tail.resize(static_cast<std::size_t>(std::min(size, tail_bytes)));
        const off_t start = size - static_cast<off_t>(tail.size());
        const ssize_t got = pread(STDERR_FILENO, tail.data(), tail.size(), start);
        tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    if (ftruncate(STDERR_FILENO, 0) != 0)
        throw Fatal::with_errno("The file of errors cannot be emptied");
    return tail;
}

}  // namespace steelyard

#include "profile_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr mode_t readable = 0644;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    constexpr std::uint32_t polynomial = 0xedb88320U;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t index = 0; index < table.size(); ++index) {
        std::uint32_t value = index;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) ? (value >> 1U) ^ polynomial : value >> 1U;
        table[index] = value;
    }
    return table;
}

constexpr auto crc_table = make_crc_table();

}  // namespace

std::uint32_t crc32(const char* data, std::size_t bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (std::size_t at = 0; at < bytes; ++at)
        crc = crc_table[(crc ^ static_cast<unsigned char>(data[at])) & 0xffU] ^ (crc >> 8U);
    return crc ^ 0xffffffffU;
}

ProfileFile::ProfileFile(const std::string& path, const std::string& header_json)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable)), path_(path) {
    if (file_ < 0)
        throw Fatal::with_errno("The profile " + path + " cannot be written");
    payload_.reserve(2 * chunk_bytes);
    const std::string header = "STEELYARD-PROFILE 1\n" + header_json + "\n";
    write_all(header.data(), header.size());
}

ProfileFile::~ProfileFile() {
    close(file_);
}

template <typename Value>
void ProfileFile::put(Value value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    payload_.insert(payload_.end(), bytes, bytes + sizeof value);
}

void ProfileFile::put_text(std::string_view text) {
    const auto length =
        std::min<std::size_t>(text.size(), std::numeric_limits<std::uint16_t>::max());
    put(static_cast<std::uint16_t>(length));
    payload_.insert(payload_.end(), text.begin(),
                    text.begin() + static_cast<std::ptrdiff_t>(length));
}

void ProfileFile::begin(char kind) {
    if (payload_.size() >= chunk_bytes)
        flush();
    payload_.push_back(kind);
}

void ProfileFile::write(const Sample& sample) {
    begin('S');
    put(sample.time_ns);
    put(sample.process);
    put(sample.thread);
    put(static_cast<std::uint16_t>(sample.cpu));
    put(static_cast<std::uint8_t>(sample.in_kernel));
    put(sample.address);
    put(sample.user_address);
    put(sample.stack_pointer);
    put(sample.base_pointer);
    put(static_cast<std::uint16_t>(sample.chain_length));
    for (std::size_t at = 0; at < sample.chain_length; ++at)
        put(sample.chain[at]);
}

void ProfileFile::write(const Mapping& mapping) {
    begin('M');
    put(mapping.time_ns);
    put(mapping.process);
    put(mapping.start);
    put(mapping.length);
    put(mapping.offset);
    put_text(mapping.path);
}

void ProfileFile::write(const Naming& naming) {
    begin('C');
    put(naming.time_ns);
    put(naming.process);
    put(naming.thread);
    put(static_cast<std::uint8_t>(naming.after_exec));
    put_text(naming.name);
}

void ProfileFile::write_start(const Lifetime& life) {
    begin('F');
    put(life.time_ns);
    put(life.process);
    put(life.thread);
    put(life.parent_process);
    put(life.parent_thread);
}

void ProfileFile::write_end(const Lifetime& life) {
    begin('X');
    put(life.time_ns);
    put(life.process);
    put(life.thread);
}

void ProfileFile::write_lost(std::uint64_t time_ns, std::uint64_t samples) {
    begin('L');
    put(time_ns);
    put(samples);
}

void ProfileFile::write_summary(std::string_view json) {
    begin('E');
    put_text(json);
}

void ProfileFile::flush() {
    if (payload_.empty())
        return;
    constexpr std::array<char, 4> mark{'C', 'H', 'N', 'K'};
    const auto length = static_cast<std::uint32_t>(payload_.size());
    const std::uint32_t crc = crc32(payload_.data(), payload_.size());
    std::vector<char> chunk(mark.begin(), mark.end());
    chunk.reserve(payload_.size() + 12);
    const auto append = [&chunk](const auto& value) {
        const auto* bytes = reinterpret_cast<const char*>(&value);
        chunk.insert(chunk.end(), bytes, bytes + sizeof value);
    };
    append(length);
    append(crc);
    chunk.insert(chunk.end(), payload_.begin(), payload_.end());
    payload_.clear();
    write_all(chunk.data(), chunk.size());
}

void ProfileFile::write_all(const char* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t written = ::write(file_, data, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            throw Fatal::with_errno("The profile " + path_ + " takes no more");
        data += written;
        bytes -= static_cast<std::size_t>(written);
        written_bytes_ += static_cast<std::uint64_t>(written);
    }
}

}  // namespace steelyard

#include "profile_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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
// A profile has the command that was run, and what is where in memory.
constexpr mode_t owner_only = 0600;

constexpr std::size_t crc_step_bytes = 8;
using CrcTables = std::array<std::array<std::uint32_t, 256>, crc_step_bytes>;

/// Of each byte what it does to the checksum, as it is followed by none to seven others (Kounavis
/// and Berry, 'A Systematic Approach to Building High Performance Software-Based CRC Generators',
/// 2005).
constexpr CrcTables make_crc_tables() {
    constexpr std::uint32_t polynomial = 0xedb88320U;
    CrcTables tables{};
    for (std::uint32_t index = 0; index < 256; ++index) {
        std::uint32_t value = index;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) ? (value >> 1U) ^ polynomial : value >> 1U;
        tables[0][index] = value;
    }
    for (std::size_t more = 1; more < crc_step_bytes; ++more) {
        for (std::uint32_t index = 0; index < 256; ++index) {
            const std::uint32_t before = tables[more - 1][index];
            tables[more][index] = (before >> 8U) ^ tables[0][before & 0xffU];
        }
    }
    return tables;
}

constexpr CrcTables crc_tables = make_crc_tables();

template <typename Value>
void put(std::vector<char>& buffer, Value value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    buffer.insert(buffer.end(), bytes, bytes + sizeof value);
}

constexpr std::size_t sample_bytes = 53;

/// The fields of a record of known size, put together before they go to a buffer at once.
template <std::size_t size>
struct Fields {
    template <typename Value>
    void put(Value value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
        at += sizeof value;
    }

    std::array<char, size> bytes;
    std::size_t at = 0;
};

}  // namespace

std::uint32_t crc32(const char* data, std::size_t bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (; bytes >= crc_step_bytes; data += crc_step_bytes, bytes -= crc_step_bytes) {
        std::array<unsigned char, crc_step_bytes> step{};
        std::memcpy(step.data(), data, crc_step_bytes);
        for (std::size_t at = 0; at < sizeof crc; ++at)
            step[at] ^= static_cast<unsigned char>(crc >> (8 * at));
        crc = 0;
        for (std::size_t at = 0; at < crc_step_bytes; ++at)
            crc ^= crc_tables[crc_step_bytes - 1 - at][step[at]];
    }
    for (std::size_t at = 0; at < bytes; ++at)
        crc = crc_tables[0][(crc ^ static_cast<unsigned char>(data[at])) & 0xffU] ^ (crc >> 8U);
    return crc ^ 0xffffffffU;
}

ProfileFile::ProfileFile(const std::string& path, const std::string& header_json)
    : path_(path),
      header_("STEELYARD-PROFILE 1\n" + header_json + "\n"),
      is_new_(access(path.c_str(), F_OK) != 0),
      file_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, owner_only)) {
    if (file_ < 0)
        throw Fatal::with_errno("The profile " + path + " cannot be written");
    try {
        hold();
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

ProfileFile::~ProfileFile() {
    if (is_new_ && is_regular_ && !has_begun_)
        unlink(path_.c_str());
    close(file_);
}

void ProfileFile::hold() {
    struct stat status{};
    is_regular_ = fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular_ && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw Fatal("The profile " + path_ +
                    " is being written by another recording; give this one another --output.");
}

void ProfileFile::begin() {
    if (has_begun_)
        return;
    has_begun_ = true;
    if (is_regular_ && ftruncate(file_, 0) != 0)
        throw Fatal::with_errno("The profile " + path_ + " cannot be written");
    write_all(header_.data(), header_.size());
}

void ProfileFile::begin_event(char kind) {
    if (events_.size() >= chunk_bytes)
        flush_events();
    events_.push_back(kind);
}

void ProfileFile::put_text(std::string_view text) {
    const auto length =
        std::min<std::size_t>(text.size(), std::numeric_limits<std::uint16_t>::max());
    put(events_, static_cast<std::uint16_t>(length));
    events_.insert(events_.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
}

void ProfileFile::write(const Sample& sample) {
    Fields<sample_bytes> fields;
    fields.put(sample.time_ns);
    fields.put(sample.process);
    fields.put(sample.thread);
    fields.put(static_cast<std::uint16_t>(sample.cpu));
    fields.put(static_cast<std::uint8_t>(sample.in_kernel));
    fields.put(sample.address);
    fields.put(sample.user_address);
    fields.put(sample.stack_pointer);
    fields.put(sample.base_pointer);
    fields.put(static_cast<std::uint16_t>(sample.chain_length));
    samples_.insert(samples_.end(), fields.bytes.begin(), fields.bytes.end());
    for (std::size_t at = 0; at < sample.chain_length; ++at)
        put(chains_, sample.chain[at]);
    put(words_, sample.frame_word);
    has_words_ = has_words_ || sample.frame_word != 0;
    ++sample_count_;
    if (samples_.size() + chains_.size() >= chunk_bytes)
        flush();  // what was mapped first, which names them
}

void ProfileFile::write(const Mapping& mapping) {
    begin_event('M');
    put(events_, mapping.time_ns);
    put(events_, mapping.process);
    put(events_, mapping.start);
    put(events_, mapping.length);
    put(events_, mapping.offset);
    put_text(mapping.path);
    if (mapping.inode == 0 && mapping.build_id.empty())
        return;
    events_.push_back('I');
    put(events_, mapping.inode);
    put_text(mapping.build_id);
}

void ProfileFile::write(const Comm& comm) {
    begin_event('C');
    put(events_, comm.time_ns);
    put(events_, comm.process);
    put(events_, comm.thread);
    put(events_, static_cast<std::uint8_t>(comm.after_exec));
    put_text(comm.name);
}

void ProfileFile::write(const StackBase& base) {
    begin_event('B');
    put(events_, base.time_ns);
    put(events_, base.process);
    put(events_, base.thread);
    put(events_, base.address);
}

void ProfileFile::write_start(const Lifetime& life) {
    begin_event('F');
    put(events_, life.time_ns);
    put(events_, life.process);
    put(events_, life.thread);
    put(events_, life.parent_process);
    put(events_, life.parent_thread);
}

void ProfileFile::write_end(const Lifetime& life) {
    begin_event('X');
    put(events_, life.time_ns);
    put(events_, life.process);
    put(events_, life.thread);
}

void ProfileFile::write_lost(std::uint64_t time_ns, std::uint64_t samples) {
    begin_event('L');
    put(events_, time_ns);
    put(events_, samples);
}

void ProfileFile::write_summary(std::string_view json) {
    begin_event('E');
    put_text(json);
}

void ProfileFile::flush() {
    flush_events();
    flush_samples();
}

void ProfileFile::flush_samples() {
    if (sample_count_ == 0)
        return;
    std::vector<char> payload;
    payload.reserve(sizeof sample_count_ + samples_.size() + chains_.size());
    put(payload, sample_count_);
    payload.insert(payload.end(), samples_.begin(), samples_.end());
    payload.insert(payload.end(), chains_.begin(), chains_.end());
    sample_count_ = 0;
    samples_.clear();
    chains_.clear();
    write_chunk("SMPL", payload);
    if (has_words_)
        write_chunk("WORD", words_);
    words_.clear();
    has_words_ = false;
}

void ProfileFile::flush_events() {
    if (events_.empty())
        return;
    write_chunk("EVNT", events_);
    events_.clear();
}

void ProfileFile::write_chunk(std::string_view mark, const std::vector<char>& payload) {
    begin();
    std::vector<char> chunk(mark.begin(), mark.end());
    chunk.reserve(mark.size() + 2 * sizeof(std::uint32_t) + payload.size());
    put(chunk, static_cast<std::uint32_t>(payload.size()));
    put(chunk, crc32(payload.data(), payload.size()));
    chunk.insert(chunk.end(), payload.begin(), payload.end());
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

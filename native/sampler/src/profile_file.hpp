// The file of a profile: a header, then chunks that can each be checked, so that what was flushed
// before a crash is readable.
//
//   header   "STEELYARD-PROFILE 1\n", then one line of JSON
//   chunk    a mark, bytes of payload (u32), CRC-32 of the payload (u32), payload
//
// All numbers are little endian, without padding. A chunk marked "SMPL" holds samples: how many
// there are (u32), each of them, then the addresses of all their call chains.
//
//   sample   time_ns u64, process u32, thread u32, cpu u16, in_kernel u8, address u64,
//            user_address u64, stack_pointer u64, base_pointer u64, addresses in its chain u16
//            (of a look at a CPU that did not run the program: its time and CPU, all else 0)
//
// Where a word of each frame was asked for, a chunk marked "WORD" follows one of samples and holds
// one u64 for each of them.
//
// A chunk marked "EVNT" holds records of a letter and its fields; texts are bytes after a u16.
//
//   M  mapping   time_ns u64, process u32, start u64, length u64, offset u64, path
//   I  identity  of the file of the mapping before it: inode u64 (0: not known), build id
//   C  name      time_ns u64, process u32, thread u32, after exec u8, name
//   F  start     time_ns u64, process u32, thread u32, parent process u32, parent thread u32
//   X  end       time_ns u64, process u32, thread u32
//   B  base      time_ns u64, process u32, thread u32, where its stack begins u64
//   L  lost      time_ns u64, samples u64
//   E  summary   JSON: what the sampler says of itself; "interim" but for the last one

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "event.hpp"
#include "side_band.hpp"
#include "stack_bases.hpp"

namespace steelyard {

/// Writes records to a file. Throws Fatal when the file takes no more; what was flushed stays.
class ProfileFile {
  public:
    /// Keeps other recordings out of the file; what it has stays until `begin`. Throws Fatal where
    /// another recording writes it.
    ProfileFile(const std::string& path, const std::string& header_json);
    ~ProfileFile();
    ProfileFile(const ProfileFile&) = delete;
    ProfileFile& operator=(const ProfileFile&) = delete;

    /// Puts the header in place of what the file had. The first flush does, if nobody did before.
    void begin();

    void write(const Sample& sample);
    void write(const Mapping& mapping);
    void write(const Comm& comm);
    void write(const StackBase& base);
    void write_start(const Lifetime& life);
    void write_end(const Lifetime& life);
    void write_lost(std::uint64_t time_ns, std::uint64_t samples);
    void write_summary(std::string_view json);
    void flush();

    std::uint64_t bytes() const { return written_bytes_ + samples_.size() + events_.size(); }

  private:
    void begin_event(char kind);
    void put_text(std::string_view text);
    void flush_samples();
    void flush_events();
    void write_chunk(std::string_view mark, const std::vector<char>& payload);
    void write_all(const char* data, std::size_t bytes);

    void hold();

    std::string path_;
    std::string header_;
    bool is_new_;
    int file_;
    bool is_regular_ = false;
    bool has_begun_ = false;
    std::uint32_t sample_count_ = 0;
    std::vector<char> samples_;
    std::vector<char> chains_;
    std::vector<char> words_;
    bool has_words_ = false;
    std::vector<char> events_;
    std::uint64_t written_bytes_ = 0;
};

/// CRC-32 as in zlib and PNG (ISO 3309).
std::uint32_t crc32(const char* data, std::size_t bytes);

}  // namespace steelyard

// An ELF file in memory: its segments, by offset and by address.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace steelyard {

/// A file of this machine's class and byte order, mapped for as long as the object lives.
class ElfFile {
  public:
    /// Nothing where the file is gone, or is no such file.
    static std::unique_ptr<ElfFile> open(const std::string& path);
    /// The kernel's own library, as it is mapped in this process too.
    static std::unique_ptr<ElfFile> vdso();
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    /// The virtual address of an offset in the file; nothing where no segment has it.
    std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
    /// From `address` to the end of what the file has of its segment.
    std::optional<std::span<const std::byte>> bytes_from(std::uint64_t address) const;
    /// The bytes of the build id; empty where the file has none.
    std::string build_id() const;
    /// The address of `.eh_frame_hdr`.
    std::optional<std::uint64_t> frame_header() const { return frame_header_; }

  private:
    struct Segment {
        std::uint64_t offset, bytes, address;
    };

    ElfFile() = default;
    bool read_segments();

    std::span<const std::byte> image_;
    bool mapped_ = false;
    std::vector<Segment> segments_;
    std::optional<std::uint64_t> frame_header_;
    std::vector<Segment> notes_;
};

/// The path by which this process opens what another one sees under `path`; 0: this one itself.
std::string path_in_process(const std::string& path, std::uint32_t process);

/// The file that a process has mapped: as it sees it while it lives, or as it is seen here. Nothing
/// where neither has the build id, if one is known.
std::unique_ptr<ElfFile> open_mapped(const std::string& path, std::uint32_t process,
                                     const std::string& build_id);

}  // namespace steelyard

// The sections of debugging information, as parts of files that are mapped into memory.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "byte_reader.hpp"

namespace steelyard {

using Bytes = std::span<const std::byte>;

enum class SectionKind : std::uint8_t {
    info,
    types,
    abbrev,
    str,
    line,
    line_str,
    str_offsets,
    addr,
    ranges,
    rnglists,
    cu_index,
    count
};

/// The kind of a section's name, such as `.debug_info` or `.debug_info.dwo`; `count`: not wanted.
SectionKind section_kind(std::string_view name);

/// Sections that belong together: those of one file, or of one unit in a package of units.
class Sections {
  public:
    void set(SectionKind kind, Bytes bytes) { bytes_[static_cast<std::size_t>(kind)] = bytes; }
    Bytes get(SectionKind kind) const { return bytes_[static_cast<std::size_t>(kind)]; }

    /// From an offset to the section's end; throws Malformed past it.
    Bytes from(SectionKind kind, std::uint64_t offset) const {
        const Bytes all = get(kind);
        if (offset > all.size())
            throw Malformed();
        return all.subspan(static_cast<std::size_t>(offset));
    }

    /// The text at an offset, up to its NUL.
    std::string_view text(SectionKind kind, std::uint64_t offset) const;

  private:
    std::array<Bytes, static_cast<std::size_t>(SectionKind::count)> bytes_;
};

/// Up to the NUL; throws Malformed where there is none.
std::string_view text_in(Bytes bytes);

/// Files, each mapped once and for as long as this lives.
class MappedFiles {
  public:
    /// A part of a file; nothing in it where the file is gone or shorter.
    Bytes part(const std::string& path, std::uint64_t offset, std::uint64_t size);

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(const std::byte* memory) const;
    };
    using Memory = std::unique_ptr<const std::byte, Unmap>;

    static Memory map(const std::string& path);

    std::map<std::string, Memory> files_;
};

}  // namespace steelyard

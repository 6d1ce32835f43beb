#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "byte_reader.hpp"
#include "elf_tables.hpp"

namespace steelyard {

namespace {

// The kernel's library has two to four pages; its section table is the last thing in it.
std::size_t vdso_bytes(const std::byte* image) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return nullptr;
    struct stat status{};
    std::unique_ptr<ElfFile> elf;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        const auto bytes = static_cast<std::size_t>(status.st_size);
        void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (memory != MAP_FAILED) {
            elf.reset(new ElfFile());
            elf->image_ = {static_cast<const std::byte*>(memory), bytes};
            elf->mapped_ = true;
        }
    }
    close(file);
    return elf && elf->read_segments() ? std::move(elf) : nullptr;
}

std::unique_ptr<ElfFile> ElfFile::vdso() {
    const auto* const image =
        reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));  // NOLINT
    if (image == nullptr)
        return nullptr;
    std::unique_ptr<ElfFile> elf(new ElfFile());
    elf->image_ = {image, vdso_bytes(image)};
    return elf->read_segments() ? std::move(elf) : nullptr;
}

ElfFile::~ElfFile() {
    if (mapped_)
        munmap(const_cast<std::byte*>(image_.data()), image_.size());
}

bool ElfFile::read_segments() try {
    for (const Elf64_Phdr& part : ElfTables(image_).segments()) {
        if (part.p_type == PT_GNU_EH_FRAME)
            frame_header_ = part.p_vaddr;
        if (part.p_type == PT_NOTE)
            notes_.push_back({part.p_offset, part.p_filesz, part.p_vaddr});
        if (part.p_type == PT_LOAD && part.p_offset <= image_.size())
            segments_.push_back(
                {part.p_offset,
                 std::min<std::uint64_t>(part.p_filesz, image_.size() - part.p_offset),
                 part.p_vaddr});
    }
    return !segments_.empty();
} catch (const Malformed&) {
    return false;
}

std::optional<std::uint64_t> ElfFile::address_of(std::uint64_t offset) const {
    for (const Segment& segment : segments_) {
        if (offset >= segment.offset && offset - segment.offset < segment.bytes)
            return segment.address + (offset - segment.offset);
    }
    return std::nullopt;
}

std::optional<std::span<const std::byte>> ElfFile::bytes_from(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
        if (address < segment.address || address - segment.address >= segment.bytes)
            continue;
        const std::uint64_t inside = address - segment.address;
        return image_.subspan(static_cast<std::size_t>(segment.offset + inside),
                              static_cast<std::size_t>(segment.bytes - inside));
    }
    return std::nullopt;
}

std::string ElfFile::build_id() const {
    constexpr std::uint32_t gnu_build_id = 3, alignment = 4;
    for (const Segment& segment : notes_) {
        if (segment.offset > image_.size() || segment.bytes > image_.size() - segment.offset)
            continue;
        ByteReader reader(image_.subspan(static_cast<std::size_t>(segment.offset),
                                         static_cast<std::size_t>(segment.bytes)),
                          0);
        const auto padded = [](std::uint32_t bytes) {
            return (std::uint64_t{bytes} + alignment - 1) / alignment * alignment;
        };
        try {
            while (!reader.at_end()) {
                const auto name_bytes = reader.take<std::uint32_t>();
                const auto value_bytes = reader.take<std::uint32_t>();
                const auto kind = reader.take<std::uint32_t>();
                const auto name = reader.take_bytes(padded(name_bytes));
                const auto value = reader.take_bytes(padded(value_bytes));
                const bool is_gnu =
                    name.size() == alignment && std::memcmp(name.data(), "GNU", alignment) == 0;
                if (is_gnu && kind == gnu_build_id)
                    return {reinterpret_cast<const char*>(value.data()), value_bytes};
            }
        } catch (const Malformed&) {
            continue;  // Notes of eight-byte alignment are none of those looked for.
        }
    }
    return {};
}

std::string path_in_process(const std::string& path, std::uint32_t process) {
    return process == 0 ? path : "/proc/" + std::to_string(process) + "/root" + path;
}

std::unique_ptr<ElfFile> open_mapped(const std::string& path, std::uint32_t process,
                                     const std::string& build_id) {
    for (const std::uint32_t seen_by : {process, std::uint32_t{0}}) {
        auto elf = ElfFile::open(path_in_process(path, seen_by));
        if (elf && (build_id.empty() || elf->build_id() == build_id))
            return elf;
    }
    return nullptr;
}

}  // namespace steelyard

#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

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

bool ElfFile::read_segments() {
    Elf64_Ehdr header;
    if (image_.size() < sizeof header)
        return false;
    std::memcpy(&header, image_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (std::size_t index = 0; index < header.e_phnum; ++index) {
        Elf64_Phdr part;
        const std::size_t at = header.e_phoff + index * sizeof part;
        if (at > image_.size() || image_.size() - at < sizeof part)
            return false;
        std::memcpy(&part, image_.data() + at, sizeof part);
        if (part.p_type == PT_GNU_EH_FRAME)
            frame_header_ = part.p_vaddr;
        if (part.p_type == PT_LOAD && part.p_offset <= image_.size())
            segments_.push_back(
                {part.p_offset,
                 std::min<std::uint64_t>(part.p_filesz, image_.size() - part.p_offset),
                 part.p_vaddr});
    }
    return !segments_.empty();
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

}  // namespace steelyard

#include "sections.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace steelyard {

SectionKind section_kind(std::string_view name) {
    static const std::map<std::string_view, SectionKind> kinds{
        {".debug_info", SectionKind::info},
        {".debug_types", SectionKind::types},
        {".debug_abbrev", SectionKind::abbrev},
        {".debug_str", SectionKind::str},
        {".debug_line", SectionKind::line},
        {".debug_line_str", SectionKind::line_str},
        {".debug_str_offsets", SectionKind::str_offsets},
        {".debug_addr", SectionKind::addr},
        {".debug_ranges", SectionKind::ranges},
        {".debug_rnglists", SectionKind::rnglists},
        {".debug_cu_index", SectionKind::cu_index},
    };
    constexpr std::string_view split = ".dwo";
    if (name.ends_with(split))
        name.remove_suffix(split.size());
    const auto found = kinds.find(name);
    return found == kinds.end() ? SectionKind::count : found->second;
}

std::string_view text_in(Bytes bytes) {
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    const void* const end = bytes.empty() ? nullptr : std::memchr(text, 0, bytes.size());
    if (end == nullptr)
        throw Malformed();
    return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
}

std::string_view Sections::text(SectionKind kind, std::uint64_t offset) const {
    return text_in(from(kind, offset));
}

void MappedFiles::Unmap::operator()(const std::byte* memory) const {
    munmap(const_cast<std::byte*>(memory), bytes);
}

MappedFiles::Memory MappedFiles::map(const std::string& path) {
    Memory memory(nullptr, Unmap{0});
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return memory;
    struct stat status{};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        const auto bytes = static_cast<std::size_t>(status.st_size);
        void* const found = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (found != MAP_FAILED)
            memory = Memory(static_cast<const std::byte*>(found), Unmap{bytes});
    }
    close(file);
    return memory;
}

Bytes MappedFiles::part(const std::string& path, std::uint64_t offset, std::uint64_t size) {
    auto known = files_.find(path);
    if (known == files_.end())
        known = files_.emplace(path, map(path)).first;
    const Memory& memory = known->second;
    const std::uint64_t all = memory ? memory.get_deleter().bytes : 0;
    if (offset > all || size > all - offset)
        return {};
    return {memory.get() + offset, static_cast<std::size_t>(size)};
}

}  // namespace steelyard

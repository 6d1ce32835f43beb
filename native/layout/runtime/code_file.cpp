#include "code_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "raw.hpp"

namespace steelyard::layout {

const char* Program::load(const Elf64_Ehdr* image, const char* path) {
    const long file = raw(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (failed(file))
        return "its file cannot be opened";
    raw(SYS_fstat, file, word(&about));
    file_size_ = static_cast<std::uint64_t>(about.st_size);
    const long mapped = raw(SYS_mmap, 0, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    raw(SYS_close, file);
    if (failed(mapped))
        return "its file cannot be mapped";
    file_ = reinterpret_cast<const std::uint8_t*>(mapped);
    if (file_size_ < sizeof *image || __builtin_memcmp(file_, image, sizeof *image) != 0)
        return "its file is another one by now";
    if (const char* failure = find_table())
        return failure;
    find_code();
    // The ELF header is the first thing of the first segment.
    bias_ = reinterpret_cast<std::uint64_t>(image) - header_->image_low;
    return nullptr;
}

void Program::unload() {
    if (file_ != nullptr)
        raw(SYS_munmap, word(file_), static_cast<long>(file_size_));
    file_ = nullptr;
    header_ = nullptr;
    code_low_ = code_high_ = 0;
}

void Program::forget_pages() const {
    if (file_ != nullptr)
        raw(SYS_madvise, word(file_), static_cast<long>(file_size_), MADV_DONTNEED);
}

const char* Program::find_table() {
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(file_);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file_ + elf->e_shoff);
    const bool has_sections =
        elf->e_shoff != 0 && elf->e_shoff + elf->e_shnum * sizeof(Elf64_Shdr) <= file_size_;
    for (std::size_t index = 0; has_sections && index < elf->e_shnum; ++index) {
        const auto* names =
            reinterpret_cast<const char*>(file_ + sections[elf->e_shstrndx].sh_offset);
        if (same_text(names + sections[index].sh_name, ".steelyard.layout"))
            header_ = reinterpret_cast<const TableHeader*>(file_ + sections[index].sh_offset);
    }
    if (header_ == nullptr)
        return "it has lost its layout table; link it again with `steelyard cc`";
    if (header_->version != table_version)
        return "its layout table is of another version; link it again";
    const auto* start = reinterpret_cast<const std::uint8_t*>(header_);
    functions_ = reinterpret_cast<const FunctionEntry*>(start + header_->functions);
    fixups_ = reinterpret_cast<const Fixup*>(start + header_->fixups);
    jump_tables_ = reinterpret_cast<const JumpTable*>(start + header_->jump_tables);
    labels_ = reinterpret_cast<const Label*>(start + header_->labels);
    blocks_ = reinterpret_cast<const BlockEntry*>(start + header_->blocks);
    pads_ = reinterpret_cast<const std::uint32_t*>(start + header_->pads);
    exempted_ = reinterpret_cast<const char*>(start + header_->exempted);
    return nullptr;
}

const std::uint8_t* Program::find_return() const {
    constexpr std::uint8_t code = 0xc3;
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(file_);
    const auto* segments = reinterpret_cast<const Elf64_Phdr*>(file_ + elf->e_phoff);
    for (std::size_t index = 0; index < elf->e_phnum; ++index) {
        const auto& segment = segments[index];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
            continue;
        const auto* start = reinterpret_cast<const std::uint8_t*>(address(segment.p_vaddr));
        // What moves holds traps and jumps; the start-up code, which comes last, stays.
        for (std::uint64_t at = segment.p_memsz; at-- > 0;) {
            const std::uint64_t linked = segment.p_vaddr + at;
            const bool is_free = linked < header_->text_low || linked >= header_->text_high;
            if (start[at] == code && is_free)
                return start + at;
        }
    }
    return nullptr;
}

void Program::find_code() {
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(file_);
    const auto* segments = reinterpret_cast<const Elf64_Phdr*>(file_ + elf->e_phoff);
    for (std::size_t index = 0; index < elf->e_phnum; ++index) {
        const auto& segment = segments[index];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
            continue;
        code_low_ = segment.p_vaddr;
        code_high_ = segment.p_vaddr + segment.p_filesz;
        code_ = file_ + segment.p_offset;
        return;
    }
}

const std::uint8_t* Program::pristine_elsewhere(std::uint64_t linked) const {
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(file_);
    const auto* segments = reinterpret_cast<const Elf64_Phdr*>(file_ + elf->e_phoff);
    for (std::size_t index = 0; index < elf->e_phnum; ++index) {
        const auto& segment = segments[index];
        if (segment.p_type == PT_LOAD && linked >= segment.p_vaddr &&
            linked < segment.p_vaddr + segment.p_filesz)
            return file_ + segment.p_offset + (linked - segment.p_vaddr);
    }
    return nullptr;
}

}  // namespace steelyard::layout

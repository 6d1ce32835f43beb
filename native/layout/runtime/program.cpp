#include "program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "raw.hpp"
#include "settings.hpp"

// The linker's name for the start of the image, which the load bias is found by.
extern "C" const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

namespace steelyard::layout {

namespace {

Program loaded;

bool equal(const char* left, const char* right) {
    while (*left != '\0' && *left == *right) {
        ++left;
        ++right;
    }
    return *left == *right;
}

}  // namespace

Program& program() {
    return loaded;
}

void Program::load() {
    if (is_loaded())
        return;
    constexpr const char* own_file = "/proc/self/exe";
    const long file = raw(SYS_open, word(own_file), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (failed(file) || failed(raw(SYS_fstat, file, word(&about))))
        fail("the program's own file cannot be opened: ", own_file);
    file_size_ = static_cast<std::uint64_t>(about.st_size);
    const long mapped = raw(SYS_mmap, 0, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    raw(SYS_close, file);
    if (failed(mapped))
        fail("the program's own file cannot be mapped");
    file_ = reinterpret_cast<const std::uint8_t*>(mapped);
    find_table();
    default_settings(header_->parts, header_->interval_ns, header_->seed);
}

void Program::find_table() {
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(file_);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file_ + elf->e_shoff);
    const bool has_sections =
        elf->e_shoff != 0 && elf->e_shoff + elf->e_shnum * sizeof(Elf64_Shdr) <= file_size_;
    for (std::size_t index = 0; has_sections && index < elf->e_shnum; ++index) {
        const auto* names =
            reinterpret_cast<const char*>(file_ + sections[elf->e_shstrndx].sh_offset);
        if (equal(names + sections[index].sh_name, ".steelyard.layout"))
            header_ = reinterpret_cast<const TableHeader*>(file_ + sections[index].sh_offset);
    }
    if (header_ == nullptr)
        fail("the program has lost its layout table; link it again with `steelyard cc`");
    if (header_->version != table_version)
        fail("the layout table is of another version; link the program again");
    const auto* start = reinterpret_cast<const std::uint8_t*>(header_);
    functions_ = reinterpret_cast<const FunctionEntry*>(start + header_->functions);
    fixups_ = reinterpret_cast<const Fixup*>(start + header_->fixups);
    jump_tables_ = reinterpret_cast<const JumpTable*>(start + header_->jump_tables);
    labels_ = reinterpret_cast<const Label*>(start + header_->labels);
    pads_ = reinterpret_cast<const std::uint32_t*>(start + header_->pads);
    exempted_ = reinterpret_cast<const char*>(start + header_->exempted);
    // The ELF header is the first thing of the first segment.
    bias_ = reinterpret_cast<std::uint64_t>(&__ehdr_start) - header_->image_low;
}

const std::uint8_t* Program::pristine(std::uint64_t linked) const {
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

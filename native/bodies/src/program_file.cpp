#include "program_file.hpp"

#include <elf.h>

#include <algorithm>

#include "fatal.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

// elf.h has R_X86_64_RELATIVE and the like; those that set a word to a symbol's address.
bool names_symbol(Machine machine, std::uint32_t kind) {
    if (machine == Machine::x86_64)
        return kind == R_X86_64_GLOB_DAT || kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_64;
    return kind == R_AARCH64_GLOB_DAT || kind == R_AARCH64_JUMP_SLOT || kind == R_AARCH64_ABS64;
}

bool is_relative(Machine machine, std::uint32_t kind) {
    if (machine == Machine::x86_64)
        return kind == R_X86_64_RELATIVE || kind == R_X86_64_IRELATIVE;
    return kind == R_AARCH64_RELATIVE || kind == R_AARCH64_IRELATIVE;
}

}  // namespace

ProgramFile::ProgramFile(Bytes file) {
    const ElfTables tables(file);
    const Elf64_Ehdr& header = tables.header();
    if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
        throw Fatal("its machine is number " + std::to_string(header.e_machine) +
                    "; code of x86-64 and AArch64 is read");
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        throw Fatal("it is no program and no shared library");
    machine_ = static_cast<Machine>(header.e_machine);
    is_fixed_ = header.e_type == ET_EXEC;
    read_sections(tables);
    for (const Section& table : sections_) {
        if (table.kind == SHT_SYMTAB || table.kind == SHT_DYNSYM)
            read_symbols(table);
        if (table.kind == SHT_RELA)
            read_relocations(table);
        if (table.kind == SHT_DYNAMIC)
            read_libraries(table);
    }
}

void ProgramFile::read_sections(const ElfTables& tables) {
    for (const auto& [name, one] : tables.sections()) {
        const bool in_file = one.sh_type != SHT_NOBITS && one.sh_type != SHT_NULL;
        if (one.sh_addr + one.sh_size < one.sh_addr)
            throw Malformed();
        sections_.push_back({name, one.sh_type, one.sh_flags, one.sh_addr, one.sh_size, one.sh_link,
                             in_file ? tables.part(one.sh_offset, one.sh_size) : Bytes()});
    }
    if (sections_.empty())
        throw Malformed();
    for (const Section& one : sections_) {
        if (one.is_loaded() && one.size > 0)
            loaded_.push_back(&one);
    }
    // Of several at one address the first of the file comes first.
    std::ranges::sort(loaded_, [](const Section* one, const Section* other) {
        return one->address != other->address ? one->address < other->address : one < other;
    });
}

void ProgramFile::read_symbols(const Section& table) {
    is_stripped_ = is_stripped_ && table.kind != SHT_SYMTAB;
    if (table.link >= sections_.size())
        throw Malformed();
    const Bytes texts = sections_[table.link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size();
         at += sizeof(Elf64_Sym)) {
        const auto one = value_at<Elf64_Sym>(table.bytes, at);
        const unsigned kind = ELF64_ST_TYPE(one.st_info);
        const bool is_function = kind == STT_FUNC || kind == STT_GNU_IFUNC;
        if ((!is_function && kind != STT_OBJECT) || one.st_shndx == SHN_UNDEF ||
            one.st_shndx >= SHN_LORESERVE)
            continue;
        symbols_.push_back({text_at(texts, one.st_name), one.st_value, one.st_size, is_function,
                            ELF64_ST_BIND(one.st_info) == STB_LOCAL});
    }
}

void ProgramFile::read_relocations(const Section& table) {
    const Section* const symbols = table.link < sections_.size() ? &sections_[table.link] : nullptr;
    const bool named = symbols != nullptr && symbols->link < sections_.size();
    const Bytes texts = named ? sections_[symbols->link].bytes : Bytes();
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.bytes.size();
         at += sizeof(Elf64_Rela)) {
        const auto one = value_at<Elf64_Rela>(table.bytes, at);
        const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(one.r_info));
        if (is_relative(machine_, kind)) {
            relocations_[one.r_offset] = {{}, static_cast<std::uint64_t>(one.r_addend)};
        } else if (named && names_symbol(machine_, kind)) {
            const auto symbol =
                value_at<Elf64_Sym>(symbols->bytes, ELF64_R_SYM(one.r_info) * sizeof(Elf64_Sym));
            if (symbol.st_shndx == SHN_UNDEF)
                relocations_[one.r_offset] = {text_at(texts, symbol.st_name), 0};
            else
                relocations_[one.r_offset] = {
                    {}, symbol.st_value + static_cast<std::uint64_t>(one.r_addend)};
        }
    }
}

void ProgramFile::read_libraries(const Section& table) {
    if (table.link >= sections_.size())
        return;
    const Bytes texts = sections_[table.link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.bytes.size();
         at += sizeof(Elf64_Dyn)) {
        const auto one = value_at<Elf64_Dyn>(table.bytes, at);
        if (one.d_tag == DT_NEEDED)
            libraries_.push_back(text_at(texts, one.d_un.d_val));
    }
}

const Section* ProgramFile::section_at(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(loaded_, address, {}, &Section::address);
    if (after == loaded_.begin())
        return nullptr;
    const Section* const found = *std::prev(after);
    return found->holds(address) ? found : nullptr;
}

const Section* ProgramFile::section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
}

Bytes ProgramFile::bytes_at(std::uint64_t address) const {
    const Section* const found = section_at(address);
    if (found == nullptr || found->bytes.empty())
        return {};
    return found->bytes.subspan(static_cast<std::size_t>(address - found->address));
}

const Relocation* ProgramFile::relocation_at(std::uint64_t address) const {
    const auto found = relocations_.find(address);
    return found == relocations_.end() ? nullptr : &found->second;
}

std::string ProgramFile::build_id() const {
    const Section* const note = section(".note.gnu.build-id");
    constexpr std::size_t head = 16;  // Elf64_Nhdr and the name "GNU"
    std::string text;
    if (note == nullptr || note->bytes.size() < head)
        return text;
    constexpr std::string_view digits = "0123456789abcdef";
    for (const std::byte one : note->bytes.subspan(head)) {
        const auto value = std::to_integer<unsigned>(one);
        text += digits[value >> 4U];
        text += digits[value & 15U];
    }
    return text;
}

}  // namespace steelyard

#include "program_references.hpp"

#include <algorithm>
#include <string_view>

#include "byte_reader.hpp"
#include "decode.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::uint8_t group_five = 0xff, jump_extension = 4;

std::uint8_t extension(const Instruction& instruction) {
    return instruction.modrm >> 3U & 7U;
}

std::uint32_t number_at(std::span<const std::uint8_t> code, std::size_t offset) {
    return value_at<std::uint32_t>(std::as_bytes(code), offset);
}

/// Whether an instruction fills `%rdi`, where the C library is given `main`: from PC-relative
/// memory or address, or with a number.
bool fills_first_argument(const Instruction& instruction, std::span<const std::uint8_t> code) {
    constexpr std::uint8_t first_argument = 7, move_number = 0xbf, move_to_field = 0xc7,
                           register_c7 = 0xc7, lea = 0x8d, load = 0x8b, rex_r = 4;
    if (instruction.map != one_byte || instruction.vector_encoding)
        return false;
    if (instruction.opcode == move_number)
        return instruction.immediate_bytes == 4 && (code[0] & 0xf0U) != 0x40U;
    if (instruction.opcode == move_to_field)
        return instruction.modrm == register_c7 && (code[0] & 1U) == 0;
    return (instruction.opcode == lea || instruction.opcode == load) &&
           (instruction.field == Field::address || instruction.field == Field::memory) &&
           extension(instruction) == first_argument && (code[0] & rex_r) == 0;
}

}  // namespace

ProgramReferences::ProgramReferences(const ElfTables& tables)
    : tables_(tables), sections_(tables.sections()), segments_(tables.segments()) {
    read_relocations();
    read_exports();
    for (const auto& [name, header] : sections_) {
        const std::uint64_t kind = header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR);
        if (header.sh_type == SHT_PROGBITS && kind == SHF_ALLOC)
            read_words(header);
    }
    initial_ = array(SHT_PREINIT_ARRAY);
    for (const std::uint64_t one : array(SHT_INIT_ARRAY))
        initial_.push_back(one);
    final_ = array(SHT_FINI_ARRAY);
}

const Slot* ProgramReferences::slot(std::uint64_t address) const {
    const auto found = slots_.find(address);
    return found == slots_.end() ? nullptr : &found->second;
}

std::optional<std::span<const std::uint8_t>> ProgramReferences::code_from(
    std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 ||
            address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
            continue;
        const std::uint64_t before = address - segment.p_vaddr;
        const Bytes bytes = tables_.part(segment.p_offset + before, segment.p_filesz - before);
        return std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    return std::nullopt;
}

const Slot* ProgramReferences::through_stub(std::uint64_t address) const {
    constexpr int most_instructions = 3;
    for (int count = 0; count < most_instructions; ++count) {
        const auto code = code_from(address);
        const auto instruction = code ? decode(*code) : std::nullopt;
        if (!instruction)
            return nullptr;
        address += instruction->length;
        if (instruction->map == one_byte && instruction->opcode == group_five &&
            extension(*instruction) == jump_extension && instruction->field == Field::memory)
            return slot(address + static_cast<std::uint64_t>(field_distance(*instruction, *code)));
    }
    return nullptr;
}

void ProgramReferences::read_relocations() {
    Bytes symbols, names;
    for (const auto& [name, header] : sections_) {
        if (header.sh_type != SHT_DYNSYM || header.sh_link >= sections_.size())
            continue;
        const Elf64_Shdr& texts = sections_[header.sh_link].header;
        symbols = tables_.part(header.sh_offset, header.sh_size);
        names = tables_.part(texts.sh_offset, texts.sh_size);
    }
    for (const auto& [name, header] : sections_) {
        if (header.sh_type != SHT_RELA || (header.sh_flags & SHF_ALLOC) == 0)
            continue;
        const Bytes table = tables_.part(header.sh_offset, header.sh_size);
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela))
            read_relocation(value_at<Elf64_Rela>(table, at), symbols, names);
    }
}

void ProgramReferences::read_relocation(const Elf64_Rela& one, Bytes symbols, Bytes names) {
    const std::uint64_t type = ELF64_R_TYPE(one.r_info), place = ELF64_R_SYM(one.r_info);
    const auto addend = static_cast<std::uint64_t>(one.r_addend);
    if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE) {
        if (!is_called_by_library(one.r_offset))
            words_[one.r_offset] = addend;
        slots_[one.r_offset] = {{}, addend, is_in_offset_table(one.r_offset)};
        return;
    }
    if (type != R_X86_64_64 && type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT)
        return;
    const auto symbol = value_at<Elf64_Sym>(symbols, place * sizeof(Elf64_Sym));
    const bool is_own = symbol.st_shndx != SHN_UNDEF;
    if (is_own && type != R_X86_64_JUMP_SLOT && !is_called_by_library(one.r_offset))
        words_[one.r_offset] = symbol.st_value + addend;
    const bool stays = type != R_X86_64_64;
    if (is_own)
        slots_[one.r_offset] = {{}, symbol.st_value + addend, stays};
    else
        slots_[one.r_offset] = {std::string(text_at(names, symbol.st_name)), 0, stays};
}

void ProgramReferences::read_exports() {
    for (const auto& [name, header] : sections_) {
        if (header.sh_type != SHT_DYNSYM)
            continue;
        const Bytes symbols = tables_.part(header.sh_offset, header.sh_size);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size();
             at += sizeof(Elf64_Sym)) {
            const auto symbol = value_at<Elf64_Sym>(symbols, at);
            if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
                exported_.insert(symbol.st_value);
        }
    }
}

void ProgramReferences::read_words(const Elf64_Shdr& section) {
    const Bytes bytes = tables_.part(section.sh_offset, section.sh_size);
    const std::uint64_t first = (word - section.sh_addr % word) % word;
    for (std::uint64_t at = first; at + word <= bytes.size(); at += word) {
        const auto value = value_at<std::uint64_t>(bytes, at);
        const bool is_code = std::ranges::any_of(segments_, [value](const Elf64_Phdr& one) {
            return one.p_type == PT_LOAD && (one.p_flags & PF_X) != 0 && value >= one.p_vaddr &&
                   value - one.p_vaddr < one.p_filesz;
        });
        if (is_code)
            words_.try_emplace(section.sh_addr + at, value);
    }
}

bool ProgramReferences::is_in_offset_table(std::uint64_t place) const {
    return std::ranges::any_of(sections_, [place](const NamedHeader& one) {
        return one.name.starts_with(".got") && place >= one.header.sh_addr &&
               place - one.header.sh_addr < one.header.sh_size;
    });
}

bool ProgramReferences::is_called_by_library(std::uint64_t place) const {
    return std::ranges::any_of(sections_, [place](const NamedHeader& one) {
        const std::uint32_t type = one.header.sh_type;
        return (type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY) &&
               place >= one.header.sh_addr && place - one.header.sh_addr < one.header.sh_size;
    });
}

std::vector<std::uint64_t> ProgramReferences::array(std::uint32_t type) const {
    std::vector<std::uint64_t> found;
    for (const auto& [name, header] : sections_) {
        if (header.sh_type != type)
            continue;
        const Bytes bytes = tables_.part(header.sh_offset, header.sh_size);
        for (std::uint64_t at = 0; at + word <= bytes.size(); at += word)
            found.push_back(word_at(bytes, header.sh_addr + at, at));
    }
    return found;
}

std::uint64_t ProgramReferences::word_at(Bytes bytes, std::uint64_t address,
                                         std::uint64_t offset) const {
    const Slot* const filled = slot(address);
    return filled != nullptr ? filled->address : value_at<std::uint64_t>(bytes, offset);
}

std::optional<std::uint64_t> ProgramReferences::main_function() const {
    constexpr int most_instructions = 24;
    std::uint64_t at = tables_.header().e_entry;
    for (int count = 0; count < most_instructions; ++count) {
        const auto code = code_from(at);
        const auto instruction = code ? decode(*code) : std::nullopt;
        if (!instruction || instruction->field == Field::call)
            return std::nullopt;
        at += instruction->length;
        if (!fills_first_argument(*instruction, *code))
            continue;
        if (instruction->field == Field::none)
            return number_at(*code, instruction->immediate_offset);
        const std::uint64_t target =
            at + static_cast<std::uint64_t>(field_distance(*instruction, *code));
        if (instruction->field == Field::address)
            return target;
        const Slot* const filled = slot(target);
        if (filled != nullptr && filled->address != 0)
            return filled->address;
    }
    return std::nullopt;
}

}  // namespace steelyard

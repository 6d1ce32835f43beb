#include "program_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "byte_reader.hpp"
#include "fatal.hpp"

namespace steelyard {

ProgramBytes::ProgramBytes(const std::string& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
    const auto view = std::as_bytes(std::span(data));
    bytes_.assign(view.begin(), view.end());
    try {
        tables_ = std::make_unique<ElfTables>(bytes_);
    } catch (const Malformed&) {
        throw Fatal("It is no ELF program that can be read.");
    }
}

std::vector<GrowableFrame> ProgramBytes::growable(std::span<const PlannedFunction> functions) const
    try {
    CodeBytes code;
    for (const auto& [name, header] : tables_->sections()) {
        if (name != ".text" || header.sh_type == SHT_NOBITS)
            continue;
        const Bytes text = tables_->part(header.sh_offset, header.sh_size);
        code = {header.sh_addr, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}};
    }
    auto elf = ElfFile::open(path_);
    if (!elf)
        throw Malformed();
    CallFrames frames(std::move(elf));
    return growable_frames(functions, code, frames, pads());
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

std::vector<std::uint64_t> ProgramBytes::pads() const {
    std::vector<std::uint64_t> found;
    for (const auto& [name, header] : tables_->sections()) {
        if (name != ".debug_steelyard_pads")
            continue;
        const Bytes section = tables_->part(header.sh_offset, header.sh_size);
        found.resize(section.size() / sizeof(std::uint64_t));
        std::memcpy(found.data(), section.data(), found.size() * sizeof(std::uint64_t));
    }
    std::ranges::sort(found);
    return found;
}

std::uint64_t ProgramBytes::offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : tables_->segments()) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    }
    throw Fatal("Its tables lead out of the file.");
}

}  // namespace steelyard

#include "next_definition.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>

#include "raw.hpp"

namespace steelyard::layout {

namespace {

/// What the dynamic section of a loaded library says of its symbols.
struct Symbols {
    const Elf64_Sym* symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t* hash = nullptr;
    const std::uint16_t* versions = nullptr;

    explicit Symbols(const link_map& library) {
        for (const Elf64_Dyn* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
            // glibc has made addresses of them, but not in the kernel's library.
            const std::uint64_t address =
                entry->d_un.d_ptr + (entry->d_un.d_ptr < library.l_addr ? library.l_addr : 0);
            if (entry->d_tag == DT_SYMTAB)
                symbols = reinterpret_cast<const Elf64_Sym*>(address);
            else if (entry->d_tag == DT_STRTAB)
                names = reinterpret_cast<const char*>(address);
            else if (entry->d_tag == DT_GNU_HASH)
                hash = reinterpret_cast<const std::uint32_t*>(address);
            else if (entry->d_tag == DT_VERSYM)
                versions = reinterpret_cast<const std::uint16_t*>(address);
        }
    }

    bool is_whole() const { return symbols != nullptr && names != nullptr && hash != nullptr; }

    bool is_default(std::uint32_t index) const {
        constexpr std::uint16_t hidden = 0x8000;
        return versions == nullptr || (versions[index] & hidden) == 0;
    }

    /// By the hash table of GNU: buckets, and chains whose last value is odd.
    const Elf64_Sym* find(const char* name) const {
        const std::uint32_t buckets = hash[0];
        const std::uint32_t first = hash[1];
        const std::uint32_t* const bucket = hash + 4 + std::uint64_t{hash[2]} * 2;
        const std::uint32_t* const chain = bucket + buckets;
        std::uint32_t value = 5381;
        for (const char* letter = name; *letter != '\0'; ++letter)
            value = value * 33 + static_cast<std::uint8_t>(*letter);
        for (std::uint32_t index = buckets == 0 ? 0 : bucket[value % buckets]; index >= first;
             ++index) {
            const bool is_named = (chain[index - first] | 1U) == (value | 1U) &&
                                  same_text(names + symbols[index].st_name, name);
            if (is_named && symbols[index].st_shndx != SHN_UNDEF && is_default(index))
                return &symbols[index];
            if ((chain[index - first] & 1U) != 0)
                return nullptr;
        }
        return nullptr;
    }
};

}  // namespace

void* next_definition(const char* name) {
    const link_map* library = _r_debug.r_map;  // the program's
    while (library != nullptr && (library = library->l_next) != nullptr) {
        const Symbols symbols(*library);
        const Elf64_Sym* found = symbols.is_whole() ? symbols.find(name) : nullptr;
        if (found != nullptr && ELF64_ST_TYPE(found->st_info) == STT_FUNC)
            return reinterpret_cast<void*>(library->l_addr + found->st_value);
    }
    return nullptr;
}

}  // namespace steelyard::layout

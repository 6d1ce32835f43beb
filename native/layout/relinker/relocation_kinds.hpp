// What the types of relocations that `--emit-relocs` kept say of a field, such as whether it is
// PC-relative or part of a sequence for thread-local storage.

#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>

namespace steelyard::layout {

inline bool is_pc_relative(std::uint32_t type) {
    switch (type) {
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
        case R_X86_64_PC8:
        case R_X86_64_PC16:
        case R_X86_64_PC64:
        case R_X86_64_GOTPC32:
        case R_X86_64_GOTPC64:
            return true;
        default:
            return false;
    }
}

/// The linker rewrites these sequences and keeps the type that was there before.
inline bool may_be_relaxed(std::uint32_t type) {
    return type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

inline bool is_tls_sequence(std::uint32_t type) {
    return type == R_X86_64_TLSGD || type == R_X86_64_TLSLD || type == R_X86_64_GOTTPOFF ||
           type == R_X86_64_GOTPC32_TLSDESC;
}

/// Tables of the unwinder: they are read for addresses of originals, which the runtime answers for.
inline bool is_unwind_section(std::string_view name) {
    return name.starts_with(".eh_frame") || name.starts_with(".gcc_except_table");
}

}  // namespace steelyard::layout

// Small programs for the kernel (BPF): their instructions, their maps, and how they get there.

#pragma once

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steelyard {

template <typename Attributes>
int bpf(int command, Attributes& attributes) {
    return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

inline int make_map(std::uint32_t type, std::size_t key_bytes, std::size_t value_bytes,
                    std::uint32_t entries, std::uint32_t flags = 0) {
    bpf_attr attributes{};
    attributes.map_type = type;
    attributes.key_size = static_cast<std::uint32_t>(key_bytes);
    attributes.value_size = static_cast<std::uint32_t>(value_bytes);
    attributes.max_entries = entries;
    attributes.map_flags = flags;
    return bpf(BPF_MAP_CREATE, attributes);
}

// BPF_ALU64 | BPF_ADD | BPF_K, and BPF_LD | BPF_DW | BPF_IMM: the parts that are 0 are left out.
inline constexpr std::uint8_t add_number = BPF_ALU64, load_number = BPF_DW;

/// Instructions, as linux/bpf.h numbers them, with jumps to places that are known later.
class Assembler {
  public:
    using Register = std::uint8_t;

    void load(Register to, Register from, std::int16_t offset) {
        put(BPF_LDX | BPF_MEM | BPF_DW, to, from, offset, 0);
    }
    void store(Register to, std::int16_t offset, Register from) {
        put(BPF_STX | BPF_MEM | BPF_DW, to, from, offset, 0);
    }
    void store_zero(Register to, std::int16_t offset) {
        put(BPF_ST | BPF_MEM | BPF_DW, to, 0, offset, 0);
    }
    void move(Register to, Register from) { put(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
    void set(Register to, std::int32_t value) { put(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value); }
    void add(Register to, std::int32_t value) { put(add_number, to, 0, 0, value); }
    void add_to(Register to, Register from) { put(BPF_ALU64 | BPF_X, to, from, 0, 0); }
    void subtract(Register from, Register what) {
        put(BPF_ALU64 | BPF_SUB | BPF_X, from, what, 0, 0);
    }
    void shift_right(Register what, std::int32_t bits) {
        put(BPF_ALU64 | BPF_RSH | BPF_K, what, 0, 0, bits);
    }
    /// One more in the state, whose address is in `state`.
    void count(Register state, std::int16_t offset) {
        set(BPF_REG_1, 1);
        put(BPF_STX | BPF_ATOMIC | BPF_DW, state, BPF_REG_1, offset, BPF_ADD);
    }
    void load_map(Register to, int map) {
        put(load_number, to, BPF_PSEUDO_MAP_FD, 0, map);
        put(0, 0, 0, 0, 0);
    }
    void call(std::int32_t function) { put(BPF_JMP | BPF_CALL, 0, 0, 0, function); }
    void leave(std::int32_t answer) {
        set(BPF_REG_0, answer);
        put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    }

    /// A jump whose target is where `land` is called with what it gives.
    std::size_t jump(std::uint8_t condition, Register left, Register right) {
        put(static_cast<std::uint8_t>(BPF_JMP | condition | BPF_X), left, right, 0, 0);
        return code_.size() - 1;
    }
    std::size_t jump_by(std::uint8_t condition, Register left, std::int32_t right) {
        put(static_cast<std::uint8_t>(BPF_JMP | condition | BPF_K), left, 0, 0, right);
        return code_.size() - 1;
    }
    void land(std::size_t jump) {
        code_[jump].off = static_cast<std::int16_t>(code_.size() - jump - 1);
    }

    const std::vector<bpf_insn>& code() const { return code_; }

  private:
    void put(std::uint8_t code, Register to, Register from, std::int16_t offset,
             std::int32_t value) {
        bpf_insn one{};
        one.code = code;
        one.dst_reg = to & 0xfU;
        one.src_reg = from & 0xfU;
        one.off = offset;
        one.imm = value;
        code_.push_back(one);
    }

    std::vector<bpf_insn> code_;
};

inline int load_program(const std::vector<bpf_insn>& code) {
    constexpr const char* license = "Apache-2.0";  // It calls nothing that asks for another one.
    bpf_attr attributes{};
    attributes.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attributes.insns = reinterpret_cast<std::uintptr_t>(code.data());
    attributes.insn_cnt = static_cast<std::uint32_t>(code.size());
    attributes.license = reinterpret_cast<std::uintptr_t>(license);
    return bpf(BPF_PROG_LOAD, attributes);
}

template <typename Key>
bpf_attr element_of(int map, const Key& key) {
    bpf_attr attributes{};
    attributes.map_fd = static_cast<std::uint32_t>(map);
    attributes.key = reinterpret_cast<std::uintptr_t>(&key);
    return attributes;
}

}  // namespace steelyard

// Bodies of x86-64: encodings as in the Intel SDM, volume 2.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "body.hpp"
#include "decode.hpp"
#include "mixing.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

bool is_scalar(const Instruction& one) {
    return one.prefix == 0xf2 || one.prefix == 0xf3;
}

bool is_x87(const Instruction& one) {
    return one.map == one_byte && !one.vector_encoding && one.opcode >= 0xd8 && one.opcode <= 0xdf;
}

/// Whether it works on registers of vectors (appendix A of the same volume).
bool uses_vectors(const Instruction& one) {
    if (one.vector_encoding)
        return true;
    if (one.map != map_0f)
        return one.map >= map_0f38 && one.opcode < 0xf0;
    const std::uint8_t opcode = one.opcode;
    return (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) ||
           (opcode >= 0x50 && opcode <= 0x7f) || opcode == 0xc2 ||
           (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
}

bool is_conditional(const Instruction& one) {
    return (one.map == one_byte && one.opcode >= 0x70 && one.opcode <= 0x7f) ||
           (one.map == map_0f && one.opcode >= 0x80 && one.opcode <= 0x8f);
}

/// `jmp`, `ret`, `hlt`, `ud2`: what follows it is reached by jumps alone.
bool never_passes(const Instruction& one) {
    if (one.vector_encoding)
        return false;
    if (one.map == map_0f)
        return one.opcode == 0x0b;
    const unsigned operation = (one.modrm >> 3U) & 7U;
    return one.map == one_byte &&
           (one.opcode == 0xe9 || one.opcode == 0xeb || one.opcode == 0xc2 || one.opcode == 0xc3 ||
            one.opcode == 0xf4 || (one.opcode == 0xff && operation == 4));
}

/// `add`, `sub` and the like on the stack pointer: the constant is the length of a frame.
bool changes_frame(const Instruction& one) {
    constexpr unsigned registers = 0xc0, stack_pointer = 4;
    return one.map == one_byte && (one.opcode == 0x81 || one.opcode == 0x83) &&
           (one.modrm & (registers | 7U)) == (registers | stack_pointer);
}

bool does_nothing(const Instruction& one) {
    if (one.map == one_byte && one.opcode == 0x90 && one.prefix != 0xf3)
        return true;
    return one.map == map_0f && one.opcode == 0x1f;
}

/// `mov` of a constant to a register of 32 bits: how arguments that are constants are passed.
bool is_constant_argument(const Instruction& one) {
    return one.map == one_byte && one.opcode >= 0xb8 && one.opcode <= 0xbf &&
           one.immediate_bytes == 4;
}

/// How much of memory an instruction on plain registers reads.
std::uint64_t integer_bytes(const Instruction& one) {
    if (one.map == map_0f) {
        if (one.opcode == 0xb6 || one.opcode == 0xbe)  // movzx, movsx
            return 1;
        if (one.opcode == 0xb7 || one.opcode == 0xbf)
            return 2;
    }
    // The lowest bit of most opcodes of one byte says whether they are about bytes.
    const bool has_width =
        one.opcode < 0x40 || (one.opcode >= 0x80 && one.opcode <= 0x8b) || one.opcode >= 0xc0;
    if (one.map == one_byte && has_width && (one.opcode & 1U) == 0)
        return 1;
    return one.wide ? 8 : (one.prefix == 0x66 ? 2 : 4);
}

/// How much of memory an instruction reads.
std::uint64_t constant_bytes(const Instruction& one) {
    if (!uses_vectors(one))
        return is_x87(one) ? 4 : integer_bytes(one);
    if (!is_scalar(one))
        return one.vector_bytes;
    return one.prefix == 0xf3 ? 4 : 8;
}

}  // namespace

/// Turns the instructions of one function into steps.
class X86Steps {
  public:
    X86Steps(BodyReader& reader, const Function& function, Body& body)
        : reader_(reader), function_(function), body_(body) {}

    void read() {
        const Bytes all = reader_.file_.bytes_at(function_.address);
        const auto size = std::min<std::uint64_t>(function_.size, all.size());
        const std::span<const std::uint8_t> code{reinterpret_cast<const std::uint8_t*>(all.data()),
                                                 static_cast<std::size_t>(size)};
        std::size_t at = 0;
        while (at < code.size()) {
            const auto found = decode(code.subspan(at));
            // What is no instruction is data among code: byte by byte.
            const std::size_t length = found ? found->length : 1;
            bytes_ = code.subspan(at, length);
            address_ = function_.address + at;
            if (found)
                add(*found);
            else
                reader_.steps_.push_back({.address = address_,
                                          .token = mixed(bytes_[0], 0xbad),
                                          .references = body_.references.size()});
            at += length;
        }
    }

  private:
    void add(const Instruction& one) {
        // Filled where it stays: a copy would wait for each of its parts to be stored.
        Step& step = reader_.steps_.emplace_back();
        step.address = address_;
        step.references = body_.references.size();
        step.is_nothing = does_nothing(one);
        step.operation =
            mixed((std::uint64_t{one.map} << 24U) | (std::uint64_t{one.opcode} << 8U) |
                  (one.vector_encoding ? 1U : 0U) | (std::uint64_t{one.prefix} << 32U));
        if (step.is_nothing)
            return;
        const std::size_t tables = reader_.tables_.size();
        count(one);
        if (one.field == Field::call || one.field == Field::jump)
            add_branch(one, step);
        else
            read_operands(one, step);
        step.has_table = reader_.tables_.size() != tables;
        step.never_passes = never_passes(one);
        note_block(one);
    }

    void count(const Instruction& one) {
        const bool vectors = uses_vectors(one);
        body_.floating += (vectors && is_scalar(one)) || is_x87(one) ? 1 : 0;
        body_.vector += vectors && !is_scalar(one) ? 1 : 0;
        body_.memory += one.memory_operand && one.field != Field::address ? 1 : 0;
        const unsigned operation = (one.modrm >> 3U) & 7U;
        const bool indirect = one.map == one_byte && one.opcode == 0xff && !one.vector_encoding;
        const bool call = one.field == Field::call || (indirect && operation == 2);
        body_.calls += call ? 1 : 0;
        body_.branches += one.field == Field::jump || (indirect && operation == 4) ? 1 : 0;
    }

    /// A jump counts by its condition and by how many steps it goes, not by its encoding.
    void add_branch(const Instruction& one, Step& step) {
        const std::uint64_t target =
            address_ + one.length + static_cast<std::uint64_t>(field_distance(one, bytes_));
        const std::uint64_t condition = is_conditional(one)        ? 16U + (one.opcode & 15U)
                                        : one.field == Field::call ? 1
                                        : one.opcode == 0xe9 || one.opcode == 0xeb
                                            ? 2
                                            : 64U + one.opcode;
        step.token = mixed(condition, 0xb7a);
        step.operation = step.token;
        if (function_.holds(target))
            step.target = target;
        else
            leave(one, target, step);
    }

    void leave(const Instruction& one, std::uint64_t target, Step& step) {
        const Reference reference = reader_.references_.resolve(target);
        if (one.field == Field::jump)
            reader_.note_exit(reference);
        refer(reference, step.token);
    }

    void read_operands(const Instruction& one, Step& step) {
        constant_ = 0;
        step.token = token_of(one);
        const bool is_number = one.immediate_bytes != 0 && !changes_frame(one) &&
                               absolute_field(one) != one.immediate_offset;
        if (is_number) {
            for (const std::uint8_t byte :
                 bytes_.subspan(one.immediate_offset, one.immediate_bytes))
                constant_ = mixed(constant_ + 1, byte);
        }
        step.constant = constant_;
    }

    std::uint64_t token_of(const Instruction& one) {
        std::array<std::uint8_t, 16> kept{};
        std::memcpy(kept.data(), bytes_.data(), one.length);
        const std::uint8_t address_at = one.field != Field::none ? one.field_offset : nowhere;
        const std::uint8_t absolute_at = absolute_field(one);
        for (const std::uint8_t at : {address_at, absolute_at}) {
            if (at != nowhere)
                std::memset(kept.data() + at, 0, 4);
        }
        const auto whole = std::as_bytes(std::span(kept));
        const std::uint64_t places = (std::uint64_t{address_at} << 8U) | absolute_at;
        std::uint64_t token = mixed(value_at<std::uint64_t>(whole, 0),
                                    value_at<std::uint64_t>(whole, 8) ^ (places << 32U));
        if (one.field != Field::none)
            refer_to_memory(
                one,
                address_ + one.length + static_cast<std::uint64_t>(field_distance(one, bytes_)),
                token);
        if (absolute_at != nowhere)
            refer_to_memory(one, value_at<std::uint32_t>(std::as_bytes(bytes_), absolute_at),
                            token);
        return token;
    }

    /// Where a program that is loaded at fixed addresses has one in an operand.
    std::uint8_t absolute_field(const Instruction& one) const {
        if (!reader_.file_.is_fixed() || one.field != Field::none)
            return nowhere;
        if (one.displacement_bytes == 4 && is_address(one.displacement_offset))
            return one.displacement_offset;
        if (one.immediate_bytes == 4 && is_address(one.immediate_offset))
            return one.immediate_offset;
        return nowhere;
    }

    bool is_address(std::uint8_t at) const {
        return reader_.file_.section_at(value_at<std::uint32_t>(std::as_bytes(bytes_), at)) !=
               nullptr;
    }

    void refer_to_memory(const Instruction& one, std::uint64_t target, std::uint64_t& token) {
        const ProgramFile& file = reader_.file_;
        // A slot of the global offset table stands for what it will hold.
        const Relocation* const relocation = file.relocation_at(target);
        if (relocation != nullptr && one.field == Field::memory) {
            refer(reader_.references_.resolve(*relocation), token);
            return;
        }
        if (const std::size_t entry_bytes = jump_table_entry(target); entry_bytes != 0) {
            reader_.add_jump_table(function_, target, entry_bytes);
            token = mixed(token, 0x7ab1e);
            return;
        }
        const std::uint64_t constant = one.field == Field::memory ? constant_bytes(one) : 0;
        const Section* const section = file.section_at(target);
        if (constant != 0 && section != nullptr && section->name.starts_with(".rodata") &&
            !reader_.references_.is_named(target)) {
            // A constant that the compiler put there is part of the instruction.
            const Bytes bytes = file.bytes_at(target);
            for (std::size_t at = 0; at < std::min<std::uint64_t>(constant, bytes.size()); ++at)
                constant_ = mixed(constant_ + 1, std::to_integer<std::uint64_t>(bytes[at]));
            token = mixed(token, constant_);
            return;
        }
        names_source_ = names_source_ || reader_.references_.is_source_name(target);
        refer(reader_.references_.resolve(target), token);
    }

    /// How large the entries of a jump table are; 0 where there is none.
    std::size_t jump_table_entry(std::uint64_t table) const {
        const Section* const section = reader_.file_.section_at(table);
        if (section == nullptr || section->is_writable() || section->is_code() || table % 4 != 0)
            return 0;
        const Bytes bytes = reader_.file_.bytes_at(table);
        if (bytes.size() < 8)
            return 0;
        if (reader_.is_jump_table(function_, table))
            return sizeof(std::int32_t);
        const bool absolute = reader_.file_.is_fixed() && bytes.size() >= 16 &&
                              function_.holds(value_at<std::uint64_t>(bytes, 0)) &&
                              function_.holds(value_at<std::uint64_t>(bytes, 8));
        return absolute ? sizeof(std::uint64_t) : 0;
    }

    void refer(const Reference& reference, std::uint64_t& token) {
        token = mixed(token, kind_without_names(reference.kind));
        body_.references.push_back(reference);
    }

    /// Constants that are passed beside the name of a source are its lines: they do not count.
    void note_block(const Instruction& one) {
        if (is_constant_argument(one))
            constants_.push_back(reader_.steps_.size() - 1);
        const bool is_call = one.field == Field::call ||
                             (one.map == one_byte && one.opcode == 0xff && !one.vector_encoding);
        if (is_call && names_source_) {
            for (const std::size_t place : constants_)
                forget_line(reader_.steps_[place]);
        }
        if (is_call || one.field == Field::jump) {
            constants_.clear();
            names_source_ = false;
        }
    }

    static void forget_line(Step& step) {
        step.token = mixed(0x11e);
        step.constant = 0;
    }

    static constexpr std::uint8_t nowhere = 255;

    BodyReader& reader_;
    const Function& function_;
    Body& body_;
    std::span<const std::uint8_t> bytes_;
    std::uint64_t address_ = 0;
    std::uint64_t constant_ = 0;  ///< of the instruction that is read
    std::vector<std::size_t> constants_;
    bool names_source_ = false;
};

void BodyReader::read_x86_64(const Function& function, Body& body) {
    X86Steps(*this, function, body).read();
}

}  // namespace steelyard

#include "register_effects.hpp"

#include <cstdint>
#include <vector>

#include "tests.hpp"

namespace {

using steelyard::decode;
using steelyard::register_effects;
using steelyard::register_operands;
using steelyard::RegisterEffects;

using Code = std::vector<std::uint8_t>;

constexpr unsigned rax = 1U << 0U, rcx = 1U << 1U, rdx = 1U << 2U, rbx = 1U << 3U, rsp = 1U << 4U,
                   rsi = 1U << 6U, rdi = 1U << 7U, r8 = 1U << 8U, r9 = 1U << 9U, r12 = 1U << 12U,
                   everything = 0xffff;

RegisterEffects effects_of(const Code& code) {
    return register_effects(decode(code).value_or(steelyard::Instruction{}), code);
}

bool has(const Code& code, unsigned reads, unsigned writes) {
    const RegisterEffects found = effects_of(code);
    return found.reads == reads && found.writes == writes && found.may_write == writes;
}

}  // namespace

TEST("moves read one operand and write the other, with what an address has") {
    CHECK(has({0x48, 0x89, 0xfb}, rdi, rbx));                    // mov %rdi, %rbx
    CHECK(has({0x4c, 0x8b, 0x07}, rdi, r8));                     // mov (%rdi), %r8
    CHECK(has({0x49, 0x89, 0x34, 0x24}, r12, 0));                // mov %rsi, (%r12)
    CHECK(has({0x48, 0x8b, 0x04, 0xd1}, rcx | rdx, rax));        // mov (%rcx,%rdx,8), %rax
    CHECK(has({0x0f, 0xb6, 0xd1}, rcx, rdx));                    // movzbl %cl, %edx
    CHECK(has({0x4d, 0x63, 0xc1}, r9, r8));                      // movslq %r9d, %r8
    CHECK(has({0xb9, 1, 0, 0, 0}, 0, rcx));                      // mov $1, %ecx
    CHECK(has({0x48, 0x8d, 0x7e, 0x08}, rsi, rdi));              // lea 8(%rsi), %rdi
    CHECK(has({0x48, 0x8b, 0x05, 0, 0, 0, 0}, 0, rax));          // mov 0(%rip), %rax
    CHECK(has({0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, 0, rax));    // mov 0, %rax
    CHECK(has({0x48, 0x8b, 0x04, 0xfd, 0, 0, 0, 0}, rdi, rax));  // mov (,%rdi,8), %rax
}

TEST("what is only kept for later is not read") {
    CHECK(has({0x57}, 0, 0));                            // push %rdi
    CHECK(has({0x48, 0x89, 0x7c, 0x24, 0x08}, rsp, 0));  // mov %rdi, 8(%rsp)
    CHECK(has({0x31, 0xff}, 0, rdi));                    // xor %edi, %edi
    CHECK(has({0x29, 0xd2}, 0, rdx));                    // sub %edx, %edx
    CHECK(has({0x31, 0xf7}, rsi | rdi, rdi));            // xor %esi, %edi
    CHECK(has({0x0f, 0x1f, 0x44, 0x00, 0x00}, 0, 0));    // nopl 0(%rax,%rax)
}

TEST("arithmetic reads both operands, and comparisons write none") {
    CHECK(has({0x48, 0x01, 0xf7}, rsi | rdi, rdi));              // add %rsi, %rdi
    CHECK(has({0x48, 0x03, 0x3e}, rsi | rdi, rdi));              // add (%rsi), %rdi
    CHECK(has({0x48, 0x39, 0xf7}, rsi | rdi, 0));                // cmp %rsi, %rdi
    CHECK(has({0x48, 0x85, 0xff}, rdi, 0));                      // test %rdi, %rdi
    CHECK(has({0x48, 0x83, 0xc6, 0x01}, rsi, rsi));              // add $1, %rsi
    CHECK(has({0x48, 0x83, 0xfe, 0x01}, rsi, 0));                // cmp $1, %rsi
    CHECK(has({0x48, 0xd3, 0xe2}, rcx | rdx, rdx));              // shl %cl, %rdx
    CHECK(has({0x48, 0xf7, 0xf1}, rax | rcx | rdx, rax | rdx));  // div %rcx
    CHECK(has({0x48, 0x0f, 0x44, 0xfe}, rsi | rdi, rdi));        // cmove %rsi, %rdi
    CHECK(has({0x48, 0x0f, 0xaf, 0xfe}, rsi | rdi, rdi));        // imul %rsi, %rdi
    CHECK(has({0x0f, 0x94, 0xc1}, 0, rcx));                      // sete %cl
}

TEST("bytes without a prefix are those of the first four registers") {
    CHECK(has({0xb6, 0x01}, 0, rdx));          // mov $1, %dh
    CHECK(has({0x40, 0xb6, 0x01}, 0, rsi));    // mov $1, %sil
    CHECK(has({0x88, 0xf1}, rdx, rcx));        // mov %dh, %cl
    CHECK(has({0x40, 0x88, 0xf1}, rsi, rcx));  // mov %sil, %cl
}

TEST("strings read and write registers that they do not name") {
    CHECK(has({0xf3, 0x48, 0xa5}, rsi | rdi | rcx, rsi | rdi | rcx));  // rep movsq
    CHECK(has({0xf3, 0x48, 0xab}, rax | rdi | rcx, rdi | rcx));        // rep stosq
}

TEST("of vector instructions the address is read, and any register that they name may be written") {
    const RegisterEffects load = effects_of({0xf3, 0x0f, 0x6f, 0x07});  // movdqu (%rdi), %xmm0
    CHECK(load.reads == rdi);
    CHECK(load.writes == 0);
    const RegisterEffects count = effects_of({0xc4, 0xe2, 0xf0, 0xf3, 0xda});  // blsi %rdx, %rcx
    CHECK(count.reads == 0);
    CHECK((count.may_write & rcx) != 0);
    const RegisterEffects moved = effects_of({0x66, 0x48, 0x0f, 0x7e, 0xc2});  // movq %xmm0, %rdx
    CHECK((moved.may_write & rdx) != 0);
}

TEST("what is not known reads nothing and may write everything") {
    const RegisterEffects found = effects_of({0x0f, 0xa2});  // cpuid
    CHECK(found.reads == 0);
    CHECK(found.writes == 0);
    CHECK(found.may_write == everything);
}

TEST("operands are those of ModRM and its second byte") {
    const Code code{0x4a, 0x8b, 0x44, 0xa4, 0x10};  // mov 16(%rsp,%r12,4), %rax
    const auto found = register_operands(decode(code).value_or(steelyard::Instruction{}), code);
    CHECK(found.field == 0);
    CHECK(!found.operand);
    CHECK(found.base == 4);
    CHECK(found.index == 12);
}

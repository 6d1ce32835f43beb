#include "pads.hpp"

#include <string>

#include "tests.hpp"

using namespace steelyard::layout;

namespace {

const std::string ident = "\t.ident\t\"Debian clang version 19\"\n";

std::string function(const std::string& body) {
    return "\t.type\tf,@function\nf:\n" + body + ".Lfunc_end0:\n\t.size\tf, .Lfunc_end0-f\n" +
           ident;
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string changed(const std::string& opcode, const std::string& number,
                    const std::string& own_bytes) {
    return "\t.byte\t" + opcode + "\n.Lsteelyard_pad_" + number + ":\n\t.long\t" + own_bytes + "\n";
}

std::string subtracted(const std::string& own_bytes) {
    return changed("0x48, 0x81, 0xec", "0", own_bytes);
}

std::string added(const std::string& own_bytes) {
    return changed("0x48, 0x81, 0xc4", "1", own_bytes);
}

}  // namespace

TEST("a frame is padded behind the registers that it saves") {
    const auto padded = with_pads(
        function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t%r14\n\tpushq\t%rbx\n"
                 "\tsubq\t$16, %rsp\n\tcallq\tg\n\taddq\t$16, %rsp\n\tpopq\t%rbx\n\tpopq\t%r14\n"
                 "\tpopq\t%rbp\n\tretq\n"));
    CHECK(holds(padded, "\tpushq\t%rbx\n" + subtracted("16") + "\n\tcallq\tg\n"));
    CHECK(holds(padded, "\tcallq\tg\n\n" + added("16") + "\tpopq\t%rbx\n"));
    CHECK(holds(padded, "\t.quad\t.Lsteelyard_pad_0\n\t.quad\t.Lsteelyard_pad_1\n"));
    CHECK(!holds(padded, ".steelyard.unpadded"));
}

TEST("a frame that is given back between a comparison and its jump leaves the flags alone") {
    const auto padded =
        with_pads(function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t%rbx\n\tcallq\tg\n"
                           "\ttestl\t%eax, %eax\n\tpopq\t%rbx\n\tpopq\t%rbp\n\tje\th\n\tretq\n"));
    CHECK(!holds(padded, "0x48, 0x81, 0xc4"));
    CHECK(holds(padded, changed("0x48, 0x8d, 0xa4, 0x24", "1", "0") + "\tpopq\t%rbx\n"));
}

TEST("pushed arguments stay below the pad") {
    const auto padded = with_pads(
        function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t$8\n\tpushq\t%rax\n\tcallq\tg\n"
                 "\taddq\t$16, %rsp\n\tpopq\t%rbp\n\tretq\n"));
    CHECK(holds(padded, "\tmovq\t%rsp, %rbp\n" + subtracted("0") + "\tpushq\t$8\n"));
    CHECK(holds(padded, "\tcallq\tg\n\n" + added("16") + "\tpopq\t%rbp\n"));
}

TEST("what is pushed to align the stack becomes part of the pad only at the entry") {
    const std::string body =
        "\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t%rax\n\tcallq\tg\n\taddq\t$8, %rsp\n"
        "\tpopq\t%rbp\n\tretq\n";
    const auto padded = with_pads(function(body));
    CHECK(holds(padded, "\tmovq\t%rsp, %rbp\n" + subtracted("8") + "\n\tcallq\tg\n"));
    CHECK(holds(padded, "\tcallq\tg\n\n" + added("8") + "\tpopq\t%rbp\n"));
    std::string computed;
    for (int count = 0; count < 8; ++count)
        computed += "\tmovl\t%esi, %eax\n";
    const auto wrapped = with_pads(function(computed + body));
    CHECK(holds(wrapped, subtracted("0") + "\tpushq\t%rax\n\tcallq\tg\n"));
}

TEST("an allocation whose size is no number stays beside the pad") {
    const auto padded =
        with_pads(function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tsubq\t%rax, %rsp\n\tcallq\tg\n"
                           "\tmovq\t%rbp, %rsp\n\tpopq\t%rbp\n\tretq\n"));
    CHECK(holds(padded, subtracted("0") + "\tsubq\t%rax, %rsp\n"));
}

TEST("an epilogue that takes the frame pointer adds no pad") {
    const auto padded = with_pads(
        function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t%rbx\n\tandq\t$-64, %rsp\n"
                 "\tcallq\tg\n\tleaq\t-8(%rbp), %rsp\n\tpopq\t%rbx\n\tpopq\t%rbp\n\tretq\n"));
    CHECK(holds(padded, "\tpushq\t%rbx\n" + subtracted("0") + "\tandq\t$-64, %rsp\n"));
    CHECK(!holds(padded, "0xc4"));
}

TEST("functions that call none have no pad and are not told of") {
    const std::string leaf = function("\tleal\t1(%rdi), %eax\n\tretq\n");
    CHECK(!holds(with_pads(leaf), ".byte"));
    CHECK(!holds(with_pads(leaf), ".steelyard.unpadded"));
}

TEST("a shape that is not known is left alone and told of") {
    const auto merged = with_pads(
        function("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\tpushq\t%rbx\n\tcallq\tg\n\tpopq\t%rbx\n"
                 ".LBB0_1:\n\tpopq\t%rbp\n\tretq\n"));
    CHECK(!holds(merged, "steelyard_pad_0"));
    CHECK(holds(merged, "\t.asciz\t\"f\"\n\t.asciz\t\"an epilogue of it has another shape\"\n"));
    const auto flags = with_pads(
        function("\tcmpl\t$1, %edi\n\tmovl\t%esi, %eax\n\tmovl\t%esi, %ecx\n\tmovl\t%esi, %edx\n"
                 "\tmovl\t%esi, %edi\n\tmovl\t%esi, %r8d\n\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n"
                 "\tjne\t.LBB0_1\n\tcallq\tg\n.LBB0_1:\n\tpopq\t%rbp\n\tretq\n"));
    CHECK(holds(flags, "its frame is set up where flags are in use"));
}

TEST("inline assembly is not read, and what people wrote is left as it is") {
    const auto inlined = with_pads(
        function("\t#APP\n\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n\t#NO_APP\n\tcallq\tg\n\tretq\n"));
    CHECK(holds(inlined, "it has no frame pointer"));
    const std::string written = "f:\n\tpushq %rbp\n\tmovq %rsp, %rbp\n\tcall g\n";
    CHECK(with_pads(written) == written);
}

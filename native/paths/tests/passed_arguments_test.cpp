#include "passed_arguments.hpp"

#include <cstdint>
#include <vector>

#include "tests.hpp"

namespace {

using steelyard::ArgumentStep;
using steelyard::PassedArguments;
using Way = ArgumentStep::Way;

// By the numbers that instructions have for them.
constexpr std::uint16_t rdi = 1U << 7U, rsi = 1U << 6U, rdx = 1U << 2U, rcx = 1U << 1U;

/// A function whose instructions have one byte each.
class Code {
  public:
    explicit Code(std::uint64_t start) : start_(start) {}

    Code& step(Way way, std::uint64_t target = 0, std::uint16_t reads = 0,
               std::uint16_t writes = 0) {
        steps_.push_back({start_ + steps_.size(), 1, way, {reads, writes, writes}, target, 0});
        return *this;
    }
    Code& reads(std::uint16_t registers) { return step(Way::onward, 0, registers); }
    Code& copies(std::uint16_t from, std::uint16_t into) {
        step(Way::onward, 0, 0, into);
        steps_.back().copied = from;
        return *this;
    }
    Code& writes(std::uint16_t registers) { return step(Way::onward, 0, 0, registers); }

    void add_to(PassedArguments& all, const std::vector<std::uint64_t>& tables = {}) {
        all.add(start_, steps_, tables);
    }

  private:
    std::uint64_t start_;
    std::vector<ArgumentStep> steps_;
};

}  // namespace

TEST("a function reads what it does not write before, on any way") {
    PassedArguments all;
    Code(100)
        .reads(rdi)
        .writes(rsi)
        .reads(rsi)
        .step(Way::branch, 106)
        .step(Way::end)
        .step(Way::padding)
        .reads(rdx)
        .step(Way::end)
        .add_to(all);
    all.find();
    CHECK(all.read_by(100) == 3);
    CHECK(all.read_by(999) == 0);
}

TEST("what is copied is read where the copy is, also behind a call") {
    constexpr std::uint16_t rbx = 1U << 3U, rax = 1U << 0U;
    PassedArguments all;
    Code(100).copies(rsi, rbx).copies(rcx, rax).step(Way::call).reads(rbx).step(Way::end).add_to(
        all);
    all.find();
    CHECK(all.read_by(100) == 2);
}

TEST("what is read behind a call was not given by the caller, but what the callee reads was") {
    PassedArguments all;
    Code(100).step(Way::call, 200).reads(rcx).step(Way::end).add_to(all);
    Code(200).reads(rsi).step(Way::end).add_to(all);
    all.find();
    CHECK(all.read_by(100) == 2);
}

TEST("a call by a pointer passes what was written since the last call") {
    PassedArguments all;
    Code(100)
        .writes(rdi)
        .writes(rdx)
        .step(Way::call)
        .writes(rdi)
        .step(Way::pointer_call)
        .step(Way::end)
        .add_to(all);
    all.find();
    CHECK(all.passed_at(104) == 1);
}

TEST("a callee that writes no register of an argument leaves it to the next call") {
    PassedArguments all;
    Code(100)
        .step(Way::call)
        .writes(rdi)
        .writes(rdx)
        .step(Way::call, 200)
        .step(Way::pointer_call)
        .step(Way::end)
        .add_to(all);
    Code(200).writes(rdi).step(Way::end).add_to(all);
    all.find();
    CHECK(all.passed_at(104) == 3);
}

TEST("a function hands on no more than all of its callers pass") {
    PassedArguments all;
    Code(100).step(Way::pointer_jump).add_to(all);
    Code(200)
        .step(Way::call)
        .writes(rdi)
        .writes(rsi)
        .step(Way::call, 100)
        .step(Way::end)
        .add_to(all);
    Code(300).step(Way::call).writes(rdi).step(Way::call, 100).step(Way::end).add_to(all);
    all.find();
    CHECK(all.passed_at(100) == 1);
}

TEST("a function that nobody calls by its address may hand on anything") {
    PassedArguments all;
    Code(100).step(Way::pointer_jump).add_to(all);
    all.find();
    CHECK(all.passed_at(100) == PassedArguments::most);
}

TEST("a jump by a table takes what is passed to each place of the table") {
    PassedArguments all;
    Code(100)
        .step(Way::call)
        .writes(rcx)
        .step(Way::table)
        .writes(rdi)
        .step(Way::pointer_call)
        .step(Way::end)
        .add_to(all, {103});
    all.find();
    CHECK(all.passed_at(104) == 4);
}

TEST("padding that nothing leads to passes nothing on") {
    PassedArguments all;
    Code(100)
        .step(Way::call)
        .step(Way::jump, 103)
        .step(Way::padding)
        .step(Way::pointer_call)
        .step(Way::end)
        .add_to(all);
    all.find();
    CHECK(all.passed_at(103) == 0);
}

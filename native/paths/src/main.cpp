// The planner: how a program is made to record its call paths, and which of its frames can grow.
//
//   steelyard-path-planner PROGRAM PLAN
//
// writes the plan that libsteelyard-paths.so follows within the program;
//
//   steelyard-path-planner --frames PROGRAM
//
// prints a line for each function, its address in hexadecimal digits and a tab. Behind that stand
// the numbers to which the growth of its frame is added, with a blank between them: the offset in
// the file, its bytes and `s` (two's complement) or `u` (ULEB128), with colons. Where the frame
// cannot grow there is a second tab and the reason;
//
//   steelyard-path-planner --calls PROGRAM
//
// prints a line for each call of one function by another, with blanks: `c`, the offset of the call
// in the file, its address, those of caller and callee (hexadecimal), from the stack pointer to the
// CFA of the caller (0: not known), and 1 where no argument can be at the top of the stack. Behind
// come the functions: `f`, the address, 1 or 0 for whether it may leave to code that is not known,
// may call such code, and may be called by its address, the functions that it leaves to by jumps,
// with commas, or `-`; and behind a tab why it may use what is above its frame;
//
//   steelyard-path-planner --clones PROGRAM
//
// prints a line for each function, with tabs: its address; its parts, each as `start-end`, the one
// that it begins with first; and the numbers that change where it is copied, each as
// `field:end:target`: four bytes at the first address say how far it is from the second to the
// third. Addresses are hexadecimal. Where it cannot be copied there is the reason behind that;
//
//   steelyard-path-planner --graph PROGRAM
//
// prints which functions call which others. Fields have a tab between them, addresses are
// hexadecimal, and `-` stands for what is not known. The first field says what a line is:
//
//   function START            part START FUNCTION      taken FUNCTION       exported FUNCTION
//   virtual FUNCTION OFFSET   reads FUNCTION COUNT
//   varying FUNCTION REASON   first FUNCTION           initial FUNCTION     final FUNCTION
//   call FUNCTION BYTES TO    pointer FUNCTION BYTES PLACE COUNT
//   held FUNCTION BYTES TO    library FUNCTION BYTES SYMBOL
//
// and the last four with `jump-` before them where FUNCTION is gone then. BYTES is by how much the
// stack is higher, PLACE where the pointer lies behind the address in a register. OFFSET is how far
// a function, whose address is in tables of virtual functions alone, lies behind where objects
// point. What is called by a pointer is `held` where the pointer may be that of TO, or of others in
// lines beside it, and of no other function. A function reads COUNT arguments from registers at
// least, and a call by a pointer passes COUNT at most;
//
//   steelyard-path-planner --aligned PROGRAM
//
// prints a line for each function that aligns its stack to more than 16 bytes, with blanks: its
// address (hexadecimal), to how many bytes, and how far below its canonical frame address the stack
// pointer is then; `-` where that varies or where it may call others before.

#include <cstdio>
#include <fstream>
#include <string_view>

#include "code_calls.hpp"
#include "fatal.hpp"
#include "growable_frames.hpp"
#include "planner.hpp"
#include "program_bytes.hpp"

namespace {

using steelyard::Fatal;

void write_plan(const char* program, const char* path) {
    const steelyard::Plan plan = steelyard::plan_of(program);
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    const auto write = [&out](const void* data, std::size_t bytes) {
        out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    };
    write(&plan.header, sizeof plan.header);
    write(plan.functions.data(), plan.functions.size() * sizeof plan.functions[0]);
    write(plan.call_sites.data(), plan.call_sites.size() * sizeof plan.call_sites[0]);
    out.close();
    if (!out)
        throw Fatal(std::string("The plan ") + path + " cannot be written.");
}

void print_frames(const char* path) {
    const steelyard::Plan plan = steelyard::plan_of(path);
    const steelyard::ProgramBytes program(path);
    for (const auto& frame : program.growable(plan.functions)) {
        std::printf("%llx\t", static_cast<unsigned long long>(frame.start));
        const char* before = "";
        for (const auto& field : frame.fields) {
            const bool is_uleb = field.form == steelyard::FrameField::Form::uleb;
            std::printf("%s%llu:%d:%c", before,
                        static_cast<unsigned long long>(program.offset_of(field.address)),
                        int{field.bytes}, is_uleb ? 'u' : 's');
            before = " ";
        }
        if (!frame.reason.empty())
            std::printf("\t%s", frame.reason.c_str());
        std::printf("\n");
    }
}

void print_calls(const char* path) {
    const steelyard::Plan plan = steelyard::plan_of(path);
    const steelyard::ProgramBytes program(path);
    const steelyard::ProgramCalls found = program.calls(plan.functions);
    const auto named = program.named(plan.functions);
    const auto wide = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
    for (const auto& call : found.calls)
        std::printf("c %llu %llx %llx %llx %lld %d\n", wide(program.offset_of(call.address)),
                    wide(call.address), wide(call.caller), wide(call.callee),
                    static_cast<long long>(call.distance), int{call.passes_no_stack});
    for (const auto& function : found.functions) {
        std::printf("f %llx %d %d %d ", wide(function.start), int{function.leaves_unknown},
                    int{function.calls_unknown}, int{named.contains(function.start)});
        for (const std::uint64_t target : function.leaves_to)
            std::printf("%llx,", wide(target));
        std::printf("-\t%s\n", function.reason.c_str());
    }
}

using Address = unsigned long long;

void print_clones(const char* path) {
    const steelyard::Plan plan = steelyard::plan_of(path);
    const steelyard::ProgramBytes program(path);
    for (const auto& function : program.clonable(plan.functions)) {
        std::printf("%llx\t", static_cast<Address>(function.start));
        for (const auto& [start, end] : function.parts)
            std::printf("%llx-%llx ", static_cast<Address>(start), static_cast<Address>(end));
        std::printf("\t");
        for (const auto& [field, end, target] : function.references)
            std::printf("%llx:%llx:%llx ", static_cast<Address>(field), static_cast<Address>(end),
                        static_cast<Address>(target));
        std::printf("\t%s\n", function.reason.c_str());
    }
}

void print_aligned(const char* path) {
    const steelyard::Plan plan = steelyard::plan_of(path);
    const steelyard::ProgramBytes program(path);
    for (const auto& function : program.aligned(plan.functions)) {
        std::printf("%llx %lld ", static_cast<Address>(function.start),
                    static_cast<long long>(function.alignment_bytes));
        if (function.depth)
            std::printf("%lld\n", static_cast<long long>(*function.depth));
        else
            std::printf("-\n");
    }
}

void print_each(const char* what, const auto& addresses) {
    for (const std::uint64_t address : addresses)
        std::printf("%s\t%llx\n", what, static_cast<Address>(address));
}

void print_transfer(const steelyard::Transfer& transfer) {
    using To = steelyard::Transfer::To;
    const char* const kind = transfer.to == To::function  ? "call"
                             : transfer.to == To::pointer ? "pointer"
                             : transfer.to == To::held    ? "held"
                                                          : "library";
    std::printf("%s%s\t%llx\t", transfer.is_jump ? "jump-" : "", kind,
                static_cast<Address>(transfer.from));
    if (transfer.bytes)
        std::printf("%lld\t", static_cast<long long>(*transfer.bytes));
    else
        std::printf("-\t");
    if (transfer.to == To::library)
        std::printf("%s", transfer.symbol.c_str());
    else if (transfer.place)
        std::printf("%llx", static_cast<Address>(*transfer.place));
    else
        std::printf("-");
    if (transfer.to == To::pointer)
        std::printf("\t%u", transfer.arguments);
    std::printf("\n");
}

void print_graph(const char* path) {
    const steelyard::CallGraph graph = steelyard::call_graph_of(path);
    print_each("function", graph.functions);
    for (const auto& [start, function] : graph.parts)
        std::printf("part\t%llx\t%llx\n", static_cast<Address>(start),
                    static_cast<Address>(function));
    print_each("taken", graph.taken);
    print_each("exported", graph.exported);
    for (const auto& [function, offsets] : graph.in_tables) {
        for (const std::uint64_t offset : offsets)
            std::printf("virtual\t%llx\t%llx\n", static_cast<Address>(function),
                        static_cast<Address>(offset));
    }
    for (const auto& [function, count] : graph.read)
        std::printf("reads\t%llx\t%u\n", static_cast<Address>(function), count);
    for (const auto& [function, reason] : graph.varying)
        std::printf("varying\t%llx\t%s\n", static_cast<Address>(function), reason.c_str());
    if (graph.first)
        std::printf("first\t%llx\n", static_cast<Address>(*graph.first));
    print_each("initial", graph.initial);
    print_each("final", graph.final);
    for (const steelyard::Transfer& transfer : graph.transfers)
        print_transfer(transfer);
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count != 3)
            throw Fatal(
                "Give a program and the file of its plan, or --frames, --calls, --clones, "
                "--graph or --aligned and a program.");
        if (std::string_view(words[1]) == "--frames")
            print_frames(words[2]);
        else if (std::string_view(words[1]) == "--calls")
            print_calls(words[2]);
        else if (std::string_view(words[1]) == "--clones")
            print_clones(words[2]);
        else if (std::string_view(words[1]) == "--graph")
            print_graph(words[2]);
        else if (std::string_view(words[1]) == "--aligned")
            print_aligned(words[2]);
        else
            write_plan(words[1], words[2]);
        return 0;
    } catch (const Fatal& fatal) {
        std::fprintf(stderr, "%s\n", fatal.message.c_str());
        return 1;
    }
}

#include "answer.hpp"

#include <sstream>
#include <string>
#include <string_view>

#include "dwarf.hpp"
#include "fatal.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"
#include "written_bytes.hpp"

using namespace steelyard;

namespace {

/// `work` at 0x1000 to 0x1100, which has taken `inner` in at 0x1010 to 0x1020.
struct Program {
    Program() {
        abbreviations.small({1, dwarf::tag_compile_unit, 1, dwarf::at_language, dwarf::form_data1})
            .small({dwarf::at_low_pc, dwarf::form_addr, dwarf::at_high_pc, dwarf::form_data4, 0, 0})
            .small({2, dwarf::tag_subprogram, 0, dwarf::at_name, dwarf::form_string, 0, 0})
            .small({3, dwarf::tag_subprogram, 1, dwarf::at_name, dwarf::form_string})
            .small({dwarf::at_low_pc, dwarf::form_addr, dwarf::at_high_pc, dwarf::form_data4, 0, 0})
            .small({4, dwarf::tag_inlined_subroutine, 0, dwarf::at_abstract_origin})
            .small({dwarf::form_ref4, dwarf::at_low_pc, dwarf::form_addr, dwarf::at_high_pc})
            .small({dwarf::form_data4, 0, 0, 0});
        info.u32(0).u16(5).u8(dwarf::unit_compile).u8(8).u32(0);
        info.small({1, dwarf::language_c99}).u64(0x1000).u32(0x200);
        const auto inner = static_cast<std::uint32_t>(info.bytes().size());
        info.u8(2).text("inner");
        info.u8(3).text("work").u64(0x1000).u32(0x100);
        info.u8(4).u32(inner).u64(0x1010).u32(0x10);
        info.small({0, 0}).close_unit();
        write("info", info);
        write("abbrev", abbreviations);
    }
    void write(const std::string& name, const WrittenBytes& bytes) {
        const auto* const text = reinterpret_cast<const char*>(bytes.bytes().data());
        folder.put(name, std::string(text, bytes.bytes().size()));
        request += "section\tmain\t.debug_" + name + '\t' + folder.at(name) + "\t0\t" +
                   std::to_string(bytes.bytes().size()) + '\n';
    }
    std::string asked(const std::string& rest) const {
        std::istringstream in(request + rest);
        std::ostringstream out;
        answer(in, out);
        return out.str();
    }

    TemporaryFolder folder;
    WrittenBytes abbreviations;
    WrittenBytes info;
    std::string request;
};

bool refuses(const std::string& request, std::string_view words) {
    std::istringstream in(request);
    std::ostringstream out;
    try {
        answer(in, out);
    } catch (const Fatal& fatal) {
        return fatal.message.find(words) != std::string::npos;
    }
    return false;
}

}  // namespace

TEST("each address gets its function, and what that took in there") {
    const Program program;
    const std::string told = program.asked(
        "code\t1000\t1200\naddress\t1000\naddress\t1010\naddress\t101f\naddress\t1020\n"
        "address\t1100\nend\n");
    CHECK(told ==
          "function\t1000\tplain\twork\twork\t\nfunction\t0\tplain\tinner\tinner\t\n"
          "at\t0\nat\t0\t1\nat\t0\t1\nat\t0\nat\ndone\n");
}

TEST("what lies beside the code that there is has no function") {
    const Program program;
    CHECK(program.asked("code\t1080\t1200\naddress\t1010\nend\n") == "at\ndone\n");
}

TEST("a unit that is cut off gives what stands before, and ends nothing") {
    const Program program;
    // The section ends within its unit.
    std::string shorter = program.request;
    const std::string size = std::to_string(program.info.bytes().size());
    shorter.replace(shorter.find('\t' + size + '\n'), size.size() + 1, "\t40");
    std::istringstream in(shorter + "code\t1000\t1200\naddress\t1010\nend\n");
    std::ostringstream out;
    answer(in, out);
    CHECK(out.str() == "at\ndone\n");
}

TEST("a request that is none is refused in words") {
    CHECK(refuses("address\t20\naddress\t10\nend\n", "rising order"));
    CHECK(refuses("nonsense\t1\nend\n", "'nonsense'"));
    CHECK(refuses("address\nend\n", "'address'"));
    CHECK(refuses("address\t0x10\nend\n", "no number '0x10'"));
    CHECK(refuses("address\t11112222333344445\nend\n", "no number"));
    CHECK(refuses("section\tmain\t.debug_info\tfile\t-1\t0\nend\n", "no number '-1'"));
}

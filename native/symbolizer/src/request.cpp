#include "request.hpp"

#include <charconv>
#include <istream>
#include <string_view>
#include <system_error>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr int decimal = 10, hexadecimal = 16;

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const auto tab = line.find('\t');
        fields.push_back(line.substr(0, tab));
        if (tab == std::string_view::npos)
            return fields;
        line.remove_prefix(tab + 1);
    }
}

std::uint64_t number_from(std::string_view text, int base) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size())
        throw Fatal("The symbolizer takes no number '" + std::string(text) + "'.");
    return number;
}

void take_line(const std::vector<std::string_view>& fields, MappedFiles& files, Request& request) {
    constexpr std::size_t of_section = 6, of_code = 3, of_address = 2;
    if (fields[0] == "section" && fields.size() == of_section) {
        const SectionKind kind = section_kind(fields[2]);
        if (kind != SectionKind::count)
            request.sets[std::string(fields[1])].set(
                kind, files.part(std::string(fields[3]), number_from(fields[4], decimal),
                                 number_from(fields[5], decimal)));
    } else if (fields[0] == "code" && fields.size() == of_code) {
        request.code.push_back(
            {number_from(fields[1], hexadecimal), number_from(fields[2], hexadecimal)});
    } else if (fields[0] == "address" && fields.size() == of_address) {
        request.addresses.push_back(number_from(fields[1], hexadecimal));
    } else {
        throw Fatal("The symbolizer does not understand '" + std::string(fields[0]) + "'.");
    }
}

}  // namespace

void read_request(std::istream& in, MappedFiles& files, Request& request) {
    for (std::string line; std::getline(in, line) && line != "end";)
        take_line(fields_of(line), files, request);
}

}  // namespace steelyard

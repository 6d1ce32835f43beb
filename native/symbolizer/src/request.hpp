// What is asked for, line by line on standard input, fields parted by tabs:
//
//   section  SET  NAME  FILE  OFFSET  SIZE   where a section is, not compressed; SET is `main`,
//                                            `alt` (what several files share), or, as an answer,
//                                            `dwp` or the number of a split unit
//   code     LOW  HIGH                       hexadecimal; where the file has code
//   address  ADDRESS                         hexadecimal, rising
//   end
//
// What is answered, on standard output:
//
//   dwo       NUMBER  FILE  FOLDER           wanted: more lines `section`, and `end`
//   wanted                                   behind the last of these
//   function  ENTRY  KIND  NAME  LAST  SOURCE   numbered from 0; ENTRY hexadecimal, 0: not known;
//                                            KIND `linkage` or `plain`; SOURCE is empty where
//                                            other sources see the function, or is not known
//   at        NUMBERS                        of each address, the outermost function first
//   done

#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "sections.hpp"
#include "unit.hpp"

namespace steelyard {

struct Request {
    std::map<std::string, Sections> sets;
    std::vector<Range> code;
    std::vector<std::uint64_t> addresses;
};

/// Reads lines up to `end`; throws Fatal where one is none of these.
void read_request(std::istream& in, MappedFiles& files, Request& request);

}  // namespace steelyard

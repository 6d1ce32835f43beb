// From a request to its answer.

#pragma once

#include <iosfwd>

namespace steelyard {

/// Answers one request. Throws Fatal where it is none.
void answer(std::istream& in, std::ostream& out);

}  // namespace steelyard

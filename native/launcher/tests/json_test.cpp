#include "json.hpp"

#include "tests.hpp"

using namespace steelyard;

namespace {

std::string quoted(std::string_view text, Invalid invalid = Invalid::replace) {
    std::string out;
    append_string(out, text, invalid);
    return out;
}

}  // namespace

TEST("quotes, backslashes and controls are escaped") {
    CHECK(quoted("a\"b\\c\nd\te") == "\"a\\\"b\\\\c\\nd\\u0009e\"");
    CHECK(quoted(std::string_view("\0\x7f", 2)) == "\"\\u0000\\u007f\"");
}

TEST("well-formed UTF-8 stays as it is") {
    CHECK(quoted("\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "\"\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST("bytes that are not UTF-8 become replacement characters") {
    CHECK(quoted("a\xff"
                 "b") == "\"a\\ufffdb\"");
    CHECK(quoted("\xe2\x82") == "\"\\ufffd\\ufffd\"");
}

TEST("bytes that are not UTF-8 become surrogates in paths") {
    CHECK(quoted("/\xff", Invalid::surrogate) == "\"/\\udcff\"");
}

TEST("overlong forms, surrogates and what is beyond Unicode are not UTF-8") {
    CHECK(quoted("\xc0\xaf") == "\"\\ufffd\\ufffd\"");
    CHECK(quoted("\xe0\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
    CHECK(quoted("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
    CHECK(quoted("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

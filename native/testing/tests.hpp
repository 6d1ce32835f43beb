// The test framework of the native parts: TEST registers a test, CHECK notes what does not hold,
// and tests.cpp runs them all.

#pragma once

#include <string>
#include <string_view>

/// One named test, registered by its definition: TEST("what must hold") { CHECK(...); }
struct Test {
    Test(std::string_view name, void (*body)());
};

/// Notes whether `holds`, with the place and text of the expression where it does not.
void check(bool holds, const char* file, int line, const char* expression);

#define TEST_JOIN2(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN2(a, b)
#define CHECK(expression) check(static_cast<bool>(expression), __FILE__, __LINE__, #expression)
#define TEST(name)                                                                       \
    static void TEST_JOIN(test_body_, __LINE__)();                                       \
    static const Test TEST_JOIN(test_, __LINE__)(name, TEST_JOIN(test_body_, __LINE__)); \
    static void TEST_JOIN(test_body_, __LINE__)()

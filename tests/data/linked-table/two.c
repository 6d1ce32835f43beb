__attribute__((section("entries"), used)) const long two_entry = 2;

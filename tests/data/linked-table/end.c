__attribute__((section("entries"), used)) const long end_entry = -1;

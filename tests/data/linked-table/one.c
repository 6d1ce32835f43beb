__attribute__((section("entries"), used)) const long one_entry = 1;

// Reads records in JSON, asks each for fields that some lack, changes them and writes them back.
// What is missing or of another type is found by the library's exceptions.
// Usage: records FILE ROUNDS

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "nlohmann/json.hpp"

using nlohmann::json;

namespace {

struct Totals {
    double balance = 0;
    long missing = 0;
    long of_another_type = 0;
    long unfinished = 0;
    std::map<std::string, long> tags;
};

// Fails for every record without a tag, and for those without a parent.
void count_tags(const json& record, Totals& totals) {
    totals.tags[record.at("tags").at(0).get<std::string>()] += record.at("parent").get<long>() % 7;
}

void look_at(json& record, Totals& totals) {
    try {
        totals.balance += record.at("balance").get<double>();
        count_tags(record, totals);
        record.at("place")["far"] = record.at("place").at("latitude").get<double>() > 45;
        record.at("about").get<long>();
    } catch (const json::type_error&) {
        totals.of_another_type++;
    } catch (const json::out_of_range&) {
        totals.missing++;
    }
}

unsigned long hashed(const std::string& text) {
    unsigned long hash = 14695981039346656037UL;
    for (const unsigned char letter : text) {
        hash = (hash ^ letter) * 1099511628211UL;
    }
    return hash;
}

// A record cut short does not parse.
void parse_half(const json& record, Totals& totals) {
    const std::string text = record.dump();
    try {
        totals.balance += json::parse(text.substr(0, text.size() / 2)).size();
    } catch (const json::parse_error&) {
        totals.unfinished++;
    }
}

std::string read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const char* path, int rounds) {
    std::string text = read(path);
    for (int round = 0; round < rounds; round++) {
        json records = json::parse(text);
        Totals totals;
        for (json& record : records) {
            look_at(record, totals);
            parse_half(record, totals);
        }
        text = records.dump();
        std::cout << round << ' ' << totals.balance << ' ' << totals.missing << ' '
                  << totals.of_another_type << ' ' << totals.unfinished << ' ' << totals.tags.size()
                  << ' ' << hashed(text) << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: records FILE ROUNDS\n";
        return 2;
    }
    try {
        run(argv[1], std::atoi(argv[2]));
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}

// Reads a document again and again, walks through its tree and writes it.
#include "pugixml.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

static long weigh(const pugi::xml_node& node) {
    long found = node.attribute("weight").as_int();
    for (const pugi::xml_node child : node.children())
        found += weigh(child);
    return found;
}

int main(int, char** words) {
    std::string text = "<catalogue>";
    for (int index = 0; index < 2000; ++index)
        text += "<book id='b" + std::to_string(index) + "' weight='" + std::to_string(index % 97) +
                "'><title>Volume " + std::to_string(index) +
                " &amp; more</title><note weight='1'/>" + "</book>";
    text += "</catalogue>";
    long sum = 0;
    for (int round = std::atoi(words[1]); round > 0; --round) {
        pugi::xml_document document;
        if (!document.load_string(text.c_str()))
            return 1;
        std::ostringstream out;
        document.save(out);
        sum += weigh(document) + static_cast<long>(out.str().size());
    }
    std::printf("%ld\n", sum);
    return 0;
}

// Reads a document again and again, walks through its tree and writes it.
#include "tinyxml2.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace tinyxml2;

static long weigh(const XMLElement* element) {
    long found = element->IntAttribute("weight");
    for (const XMLElement* child = element->FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement())
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
        XMLDocument document;
        if (document.Parse(text.c_str()) != XML_SUCCESS)
            return 1;
        XMLPrinter printer;
        document.Print(&printer);
        sum += weigh(document.RootElement()) + printer.CStrSize();
    }
    std::printf("%ld\n", sum);
    return 0;
}

// Benchmarks of TinyXML-2: one by its name. Only what `measured` does is counted.
#include <cstdio>
#include <cstring>
#include <string>

#include "made_text.h"
#include "tinyxml2.h"

using namespace tinyxml2;

namespace {

std::string records, escaped, nested;
XMLDocument made;

std::string make_records(int items) {
    static char words[4000];
    size_t size = make_text(words, sizeof words, 4242);
    std::string found = "<?xml version=\"1.0\"?>\n<!-- made -->\n<stock>\n";
    for (int item = 0; item < items; item++) {
        std::string number = std::to_string(item);
        found += "  <thing id=\"" + number + "\" weight=\"" + std::to_string(item * 37 % 1000) +
                 ".5\" on='true'>\n    <name>Thing " + number + "</name>\n    <note>";
        found.append(words + item * 29 % (size - 90), 90);
        found += "</note>\n    <empty/>\n  </thing>\n";
    }
    return found + "</stock>\n";
}

std::string make_escaped(int items) {
    std::string found = "<stock>";
    for (int item = 0; item < items; item++)
        found +=
            "<a b=\"x &amp; y &lt; &#65;\">q &lt;r&gt; &quot;s&quot; &#x20AC;\r\n"
            "<![CDATA[ raw <data> ]]><!-- remark & more --></a>";
    return found + "</stock>";
}

std::string make_nested(int rounds, int depth) {
    std::string found = "<stock>";
    for (int round = 0; round < rounds; round++) {
        for (int level = 0; level < depth; level++)
            found += "<level><side/>";
        for (int level = 0; level < depth; level++)
            found += "</level>";
    }
    return found + "</stock>";
}

long parse(const std::string& from) {
    XMLDocument document;
    document.Parse(from.c_str());
    return document.RootElement() ? 1 : -1;
}

long print(bool compact) {
    XMLPrinter printer(nullptr, compact);
    made.Print(&printer);
    return static_cast<long>(std::strlen(printer.CStr()));
}

struct counting_visitor : XMLVisitor {
    long elements = 0, texts = 0;
    bool VisitEnter(const XMLElement&, const XMLAttribute* first) override {
        for (; first; first = first->Next())
            elements += first->Name()[0] == 'i';
        elements++;
        return true;
    }
    bool Visit(const XMLText& text) override {
        texts += text.Value()[0];
        return true;
    }
};

long visit(int rounds) {
    counting_visitor visitor;
    for (int round = 0; round < rounds; round++)
        made.Accept(&visitor);
    return visitor.elements + visitor.texts;
}

long query(int rounds) {
    long sum = 1;
    for (int round = 0; round < rounds; round++)
        for (const XMLElement* at = made.RootElement()->FirstChildElement("thing"); at;
             at = at->NextSiblingElement("thing")) {
            double weight = 0;
            at->QueryDoubleAttribute("weight", &weight);
            sum += at->IntAttribute("id") + static_cast<long>(weight);
            const XMLElement* name = at->FirstChildElement("name");
            sum += name && name->GetText() ? name->GetText()[0] : 0;
            sum += at->LastChildElement("empty") != nullptr;
        }
    return sum;
}

long build(int items) {
    XMLDocument document;
    XMLElement* root = document.NewElement("stock");
    document.InsertEndChild(root);
    for (int item = 0; item < items; item++) {
        XMLElement* thing = document.NewElement("thing");
        root->InsertEndChild(thing);
        thing->SetAttribute("id", item);
        thing->SetAttribute("name", "some name");
        thing->SetAttribute("weight", item * 0.25);
        thing->InsertEndChild(document.NewText("text of a thing"));
        if (item % 3 == 0)
            root->DeleteChild(root->FirstChild());
    }
    return root->FirstChild() ? 1 : -1;
}

long write(int items) {
    XMLPrinter printer;
    printer.OpenElement("stock");
    for (int item = 0; item < items; item++) {
        printer.OpenElement("thing");
        printer.PushAttribute("id", item);
        printer.PushAttribute("weight", item * 0.5);
        printer.PushAttribute("name", "a < b & \"c\"");
        printer.PushText("text & more <of> a thing");
        printer.CloseElement();
    }
    printer.CloseElement();
    return static_cast<long>(std::strlen(printer.CStr()));
}

long copy() {
    XMLDocument document;
    for (const XMLNode* at = made.RootElement()->FirstChild(); at; at = at->NextSibling()) {
        XMLNode* twin = at->ShallowClone(&document);
        document.InsertEndChild(twin);
        for (const XMLNode* below = at->FirstChild(); below; below = below->NextSibling())
            twin->InsertEndChild(below->ShallowClone(&document));
    }
    return document.FirstChild() ? 1 : -1;
}

}  // namespace

extern "C" __attribute__((noinline)) long measured(const char* name) {
    if (!std::strcmp(name, "parse"))
        return parse(records);
    if (!std::strcmp(name, "parse-escaped"))
        return parse(escaped);
    if (!std::strcmp(name, "parse-nested"))
        return parse(nested);
    if (!std::strcmp(name, "print"))
        return print(false);
    if (!std::strcmp(name, "print-compact"))
        return print(true);
    if (!std::strcmp(name, "visit"))
        return visit(5);
    if (!std::strcmp(name, "query"))
        return query(3);
    if (!std::strcmp(name, "build"))
        return build(2000);
    if (!std::strcmp(name, "write"))
        return write(400);
    if (!std::strcmp(name, "copy"))
        return copy();
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    records = make_records(500);
    escaped = make_escaped(900);
    nested = make_nested(40, 40);
    made.Parse(records.c_str());
    if (!made.RootElement())
        return 3;
    long result = measured(arguments[1]);
    std::printf("%ld\n", result);
    return result <= 0;
}

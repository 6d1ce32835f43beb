// Benchmarks of pugixml: one by its name. Only what `measured` does is counted.
#include <cstdio>
#include <cstring>
#include <string>

#include "made_text.h"
#include "pugixml.hpp"

namespace {

std::string text, escaped, wide;
pugi::xml_document made;

struct counting_writer : pugi::xml_writer {
    long bytes = 0;
    void write(const void*, size_t size) override { bytes += static_cast<long>(size); }
};

std::string make_document(int items) {
    static char words[4000];
    size_t size = make_text(words, sizeof words, 777);
    std::string found = "<?xml version=\"1.0\"?>\n<catalogue>\n";
    for (int item = 0; item < items; item++) {
        std::string number = std::to_string(item);
        found += "  <item id=\"" + number + "\" kind=\"k" + std::to_string(item % 7) +
                 "\">\n    <name>Item " + number + "</name>\n    <price>" +
                 std::to_string(item * 37 % 1000) + ".5</price>\n    <note>";
        for (size_t at = size_t(item * 31) % (size - 80), end = at + 80; at < end; at++)
            found += words[at];
        found += "</note>\n    <!-- comment --><empty/>\n  </item>\n";
    }
    return found + "</catalogue>\n";
}

std::string make_escaped(int items) {
    std::string found = "<catalogue>";
    for (int item = 0; item < items; item++)
        found +=
            "<item a=\"x &amp; y &lt; &#65;\" b='\r\n tab\t'>a &lt;b&gt; &amp; &quot;c&quot; "
            "&#x20AC;\r\n<![CDATA[ raw <data> ]]><?pi target?></item>";
    return found + "</catalogue>";
}

long walk(const pugi::xml_node& node) {
    long sum = 1;
    for (pugi::xml_node child = node.first_child(); child; child = child.next_sibling())
        sum += walk(child) + static_cast<long>(std::strlen(child.name()));
    return sum;
}

long query(const char* path, int rounds) {
    long sum = 1;
    for (int round = 0; round < rounds; round++) {
        pugi::xpath_query compiled(path);
        sum += static_cast<long>(compiled.evaluate_node_set(made).size());
    }
    return sum;
}

long parse(const std::string& from, unsigned options) {
    pugi::xml_document document;
    return document.load_buffer(from.data(), from.size(), options) ? 1 : -1;
}

long build(int items) {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("root");
    for (int item = 0; item < items; item++) {
        pugi::xml_node node = root.append_child("item");
        node.append_attribute("id") = item;
        node.append_attribute("name").set_value("some name");
        node.append_child(pugi::node_pcdata).set_value("text of an item");
        if (item % 3 == 0)
            root.remove_child(root.first_child());
    }
    pugi::xml_document copy;
    for (pugi::xml_node node = root.first_child(); node; node = node.next_sibling())
        copy.append_copy(node);
    return walk(copy);
}

}  // namespace

extern "C" __attribute__((noinline)) long measured(const char* name) {
    if (!std::strcmp(name, "parse"))
        return parse(text, pugi::parse_default);
    if (!std::strcmp(name, "parse-full"))
        return parse(escaped, pugi::parse_full);
    if (!std::strcmp(name, "parse-minimal"))
        return parse(text, pugi::parse_minimal);
    if (!std::strcmp(name, "save")) {
        counting_writer writer;
        made.save(writer);
        return writer.bytes;
    }
    if (!std::strcmp(name, "save-raw")) {
        counting_writer writer;
        made.save(writer, "", pugi::format_raw, pugi::encoding_utf16_le);
        return writer.bytes;
    }
    if (!std::strcmp(name, "walk"))
        return walk(made) + walk(made) + walk(made);
    if (!std::strcmp(name, "build"))
        return build(3000);
    if (!std::strcmp(name, "attributes")) {
        long sum = 1;
        pugi::xml_node root = made.child("catalogue");
        for (int round = 0; round < 5; round++)
            for (pugi::xml_node node = root.child("item"); node; node = node.next_sibling("item"))
                sum += node.attribute("id").as_int() + (node.child("price").empty() ? 1 : 0) +
                       static_cast<long>(node.find_child_by_attribute("kind", "k1").empty());
        return sum;
    }
    if (!std::strcmp(name, "xpath-descendants"))
        return query("//note", 3);
    if (!std::strcmp(name, "xpath-predicates"))
        return query("/catalogue/item[@kind='k3' and price > 100][position() < 20]/name", 2);
    if (!std::strcmp(name, "xpath-strings"))
        return query(
            "//item[contains(note, 'lever') and starts-with(translate(name, 'I', 'j'), "
            "'j')]/@id",
            1);
    if (!std::strcmp(name, "xpath-union"))
        return query("//name | //price | //item[last()]/preceding-sibling::*", 1);
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    text = make_document(600);
    escaped = make_escaped(1500);
    if (!made.load_buffer(text.data(), text.size()))
        return 3;
    long result = measured(arguments[1]);
    std::printf("%ld\n", result);
    return result <= 0;
}

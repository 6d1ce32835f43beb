// Reads a document, changes it and writes it again.
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int, char** words) {
    std::string text = "entries:\n";
    for (int index = 0; index < 200; ++index)
        text += "  - name: entry" + std::to_string(index) + "\n    values: [" +
                std::to_string(index) + ", 2, 3.5]\n    note: \"a 'quoted' text\"\n";
    std::size_t sum = 0;
    for (int round = std::atoi(words[1]); round > 0; --round) {
        YAML::Node document = YAML::Load(text);
        for (auto entry : document["entries"])
            sum += entry["values"][0].as<std::size_t>();
        document["round"] = round;
        YAML::Emitter out;
        out << document;
        sum += out.size();
    }
    std::printf("%zu\n", sum);
    return 0;
}

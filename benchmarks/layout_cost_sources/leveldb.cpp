// Writes keys into a database in memory, compacts it and reads them back in another order.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"

int main(int, char** words) {
    const unsigned count = static_cast<unsigned>(std::atoi(words[1]));
    std::unique_ptr<leveldb::Env> memory(leveldb::NewMemEnv(leveldb::Env::Default()));
    leveldb::Options options;
    options.env = memory.get();
    options.create_if_missing = true;
    options.write_buffer_size = 1 << 20;
    leveldb::DB* opened = nullptr;
    if (!leveldb::DB::Open(options, "/weigh", &opened).ok())
        return 1;
    std::unique_ptr<leveldb::DB> database(opened);
    for (unsigned index = 0; index < count; ++index)
        database->Put({}, "key" + std::to_string(index * 2654435761u), std::string(100, 'v'));
    database->CompactRange(nullptr, nullptr);
    std::size_t sum = 0;
    for (unsigned index = 0; index < count; ++index) {
        std::string value;
        if (!database->Get({}, "key" + std::to_string(index * 2654435761u), &value).ok())
            return 2;
        sum += value.size();
    }
    std::printf("%zu\n", sum);
    return 0;
}

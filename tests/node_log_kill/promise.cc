#include "tests/node_log_kill/promise.h"

#include <algorithm>
#include <sstream>

namespace highwater::test {

void Promise::hear(const std::string& line) {
    ++steps;
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "appended") {
        KeptBatch batch;
        char colon = ':';
        while (words >> batch.first >> colon >> batch.last >> colon >> batch.crc) batches.push_back(batch);
        return;
    }
    if (what == "error") {
        error = line;
        return;
    }
    Offset offset = 0;
    words >> offset;
    if (what == "opened") opened = offset;
    if (what == "flushed") flushed = offset;
    if (what == "cutting") {
        std::erase_if(batches, [&](const KeptBatch& batch) { return batch.last >= offset; });
        flushed = std::min(flushed, end());
    }
}

}  // namespace highwater::test

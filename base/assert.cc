#include "base/assert.h"

#include <cstdio>

namespace highwater {

void assertion_failed(const char* expression, const std::string& detail, std::source_location where) {
    std::fprintf(stderr, "%s:%u: %s: assertion failed: %s%s%s%s\n", where.file_name(), where.line(),
                 where.function_name(), expression, detail.empty() ? "" : " (", detail.c_str(),
                 detail.empty() ? "" : ")");
    std::fflush(stderr);
    __builtin_trap();
}

}  // namespace highwater

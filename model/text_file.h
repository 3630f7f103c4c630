// Reading a whole file, for the readers of model.
#pragma once

#include <string>

#include "base/result.h"

namespace highwater {

/// Errors name the path and the cause.
Result<std::string> read_text_file(const std::string& path);

}  // namespace highwater

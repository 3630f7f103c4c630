// What Kafka's two checkpoint files share: line 1 is the version "0", line 2 the number of entries, then one
// entry a line of numbers and words separated by single spaces.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater::node {

/// The fields of each entry line. Errors name file and line: wrong version, count that does not match, wrong
/// number of fields, an empty field. An empty text has no entries.
Result<std::vector<std::vector<std::string>>> parse_text_checkpoint(std::string_view text,
                                                                    const std::string& file_name,
                                                                    std::size_t fields_per_line);
/// `text` as a whole number in [0, max]; it is a field of entry `entry` (from 0), whose line errors name.
Result<std::int64_t> checkpoint_number(const std::string& text, const std::string& file_name,
                                       std::size_t entry,
                                       std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace highwater::node

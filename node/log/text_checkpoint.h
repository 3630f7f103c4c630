// What Kafka's two checkpoint files share: line 1 is the version "0", line 2 the number of entries, then one entry a
// line of numbers and words separated by single spaces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater::node {

/// The fields of each entry line. Errors name file and line: wrong version, count that does not match, wrong number of
/// fields. An empty text has no entries.
Result<std::vector<std::vector<std::string>>> parse_text_checkpoint(std::string_view text, const std::string& file_name,
                                                                    std::size_t fields_per_line);
/// A whole number in field `field` of entry `entry`; errors name the line.
Result<std::int64_t> checkpoint_number(const std::string& text, const std::string& file_name, std::size_t entry);

}  // namespace highwater::node

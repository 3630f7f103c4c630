// What assign, seek and reset say about a consumer's position; junk says nothing.
#include <charconv>

#include "model/history.h"
#include "model/json_fields.h"

namespace highwater {

using json::FieldError;

PositionChange position_change(const OtherOp& other) {
    PositionChange change;
    try {
        simdjson::dom::parser parser;
        simdjson::dom::object object;
        const std::string text = "{" + other.json + "}";
        if (parser.parse(text).get(object) != simdjson::SUCCESS) return change;
        for (const auto [key, value] : object) {
            if (key == "partitions") {
                change.partitions = json::to_numbers<std::int32_t>(key, value);
            } else if (key == "partition") {
                change.partitions = {json::to_number<std::int32_t>(key, value)};
            } else if (key == "offset" || key == "from") {
                std::int64_t position = kUnknownOffset;
                if (value.is_string()) {  // "committed:2"
                    const std::string_view words = json::to_text(key, value);
                    const std::size_t digits = words.find_first_of("0123456789");
                    if (digits == std::string_view::npos) continue;
                    std::from_chars(words.data() + digits, words.data() + words.size(), position);
                } else {
                    position = json::to_offset(key, value);
                }
                change.position = position;
            }
        }
    } catch (const FieldError&) {
        return {};
    } catch (const simdjson::simdjson_error&) {
        return {};
    }
    return change;
}

}  // namespace highwater

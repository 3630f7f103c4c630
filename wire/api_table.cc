#include "wire/api_table.h"

#include <fmt/format.h>

namespace highwater::wire {

const ApiInfo* find_api(ApiKey key) {
    for (const ApiInfo& api : kApis) {
        if (api.key == key) return &api;
    }
    return nullptr;
}

const ApiInfo* find_api(std::string_view name) {
    for (const ApiInfo& api : kApis) {
        if (api.name == name) return &api;
    }
    return nullptr;
}

std::string api_name(ApiKey key) {
    const ApiInfo* api = find_api(key);
    return api != nullptr ? std::string(api->name) : fmt::format("api {}", static_cast<std::int16_t>(key));
}

bool offers(ListenerKind listener, ApiKey key, std::int16_t version) {
    const ApiInfo* api = find_api(key);
    return api != nullptr && (listener == ListenerKind::Client ? api->client : api->internal).has(version);
}

ApiVersionsAnswer answer_api_versions(ListenerKind listener, std::int16_t requested_version) {
    ApiVersionsAnswer answer;
    for (const ApiInfo& api : kApis) {
        const Versions& range = listener == ListenerKind::Client ? api.client : api.internal;
        if (range.low > range.high) continue;
        ApiVersionsResponse::ApiVersion entry;
        entry.api_key = static_cast<std::int16_t>(api.key);
        entry.min_version = range.low;
        entry.max_version = range.high;
        answer.response.api_keys.push_back(entry);
    }
    if (offers(listener, ApiKey::ApiVersions, requested_version)) {
        answer.encode_at = requested_version;
    } else {
        answer.response.error_code = ErrorCode::UnsupportedVersion;
    }
    return answer;
}

}  // namespace highwater::wire

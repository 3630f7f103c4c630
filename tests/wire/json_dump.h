// A message as the JSON that Kafka's own converters print, from the same description that drives the codec:
// fields of the version only, byte strings in base64. Kafka prints a tagged field only when it differs from
// its default (Tagged::WhenSet); the random frames come with the JSON they were made from, which may spell
// defaults out.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "golden_frames.h"
#include "wire/schema.h"

namespace highwater::test {

enum class Tagged { WhenSet, Always };

template <class Struct>
nlohmann::json dump_struct(const Struct& object, std::int16_t version, Tagged tagged);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
nlohmann::json dump_value(const T& value, std::int16_t version, Tagged tagged) {
    if constexpr (IsOptional<T>::value)
        return value ? dump_value(*value, version, tagged) : nlohmann::json(nullptr);
    else if constexpr (std::is_same_v<T, Bytes>)
        return to_base64(value);
    else if constexpr (IsVector<T>::value) {
        auto items = nlohmann::json::array();
        for (const auto& item : value) items.push_back(dump_value(item, version, tagged));
        return items;
    } else if constexpr (std::is_same_v<T, Uuid>)
        return value.to_string();
    else if constexpr (std::is_enum_v<T>)
        return static_cast<std::underlying_type_t<T>>(value);
    else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
        return value;
    else
        return dump_struct(value, version, tagged);
}

template <class Struct, class T>
void dump_field(nlohmann::json& into, const Struct& object, const wire::Field<Struct, T>& field,
                std::int16_t version, Tagged tagged) {
    const T& value = object.*field.member;
    if (!field.versions.has(version)) return;
    if (tagged == Tagged::WhenSet && field.tagged_in.has(version) && value == Struct{}.*field.member) return;
    into[std::string(field.name)] = dump_value(value, version, tagged);
}

template <class Struct>
nlohmann::json dump_struct(const Struct& object, std::int16_t version, Tagged tagged) {
    auto into = nlohmann::json::object();
    std::apply([&](const auto&... fields) { (dump_field(into, object, fields, version, tagged), ...); },
               Struct::fields());
    return into;
}

/// Every field that must be printed is in `golden` with our value, and what `golden` has besides is a tagged
/// field at its default. Returns the first place that differs, or nothing. `lean` has WhenSet, `full` has
/// Always.
inline std::string json_difference(const nlohmann::json& golden, const nlohmann::json& lean,
                                   const nlohmann::json& full, const std::string& path = "") {
    const auto differs = [&](const nlohmann::json& ours) {
        return path + ": " + golden.dump() + " here " + ours.dump();
    };
    if (golden.type() != lean.type() && !(golden.is_number() && lean.is_number())) return differs(lean);
    if (golden.is_object()) {
        for (const auto& [key, value] : lean.items()) {
            if (!golden.contains(key)) {
                return path + "/" + key + ": not printed by Kafka, here " + value.dump();
            }
        }
        for (const auto& [key, value] : golden.items()) {
            if (!full.contains(key)) return path + "/" + key + ": unknown here";
            const auto ours = lean.find(key);
            const std::string inner =
                ours != lean.end() ? json_difference(value, *ours, full.at(key), path + "/" + key)
                                   : json_difference(value, full.at(key), full.at(key), path + "/" + key);
            if (!inner.empty()) return inner;
        }
        return {};
    }
    if (golden.is_array()) {
        if (golden.size() != lean.size()) return differs(lean);
        for (std::size_t i = 0; i < golden.size(); ++i) {
            std::string inner = json_difference(golden[i], lean[i], full[i], path + "/" + std::to_string(i));
            if (!inner.empty()) return inner;
        }
        return {};
    }
    return golden == lean ? std::string() : differs(lean);
}

}  // namespace highwater::test

// Random values of any message in any version, made from the description that drives the codec. Fields that
// the version lacks keep their default, so that decode(encode(m)) == m.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "base/rng.h"
#include "json_dump.h"
#include "wire/schema.h"

namespace highwater::test {

class RandomMessage {
public:
    RandomMessage(Rng& rng, std::int16_t version) : rng_(rng), version_(version) {}

    template <class Struct>
    void fill(Struct& object) {
        std::apply([&](const auto&... fields) { (fill_field(object, fields), ...); }, Struct::fields());
    }

private:
    template <class Struct, class T>
    void fill_field(Struct& object, const wire::Field<Struct, T>& field) {
        if (!field.versions.has(version_)) return;
        // Half of the tagged fields stay out.
        if (field.tagged_in.has(version_) && rng_.chance(50)) return;
        fill_value(object.*field.member, field.nullable_in.has(version_));
    }

    template <class T>
    void fill_value(T& into, bool nullable) {
        if constexpr (IsOptional<T>::value) {
            if (nullable && rng_.chance(30)) return into.reset();
            fill_value(into.emplace(), false);
        } else if constexpr (std::is_same_v<T, Bytes> || std::is_same_v<T, std::string>) {
            // Now and then long enough that lengths take two bytes as varints.
            into.resize(rng_.chance(10) ? 200 : rng_.below(6));
            for (auto& byte : into) byte = static_cast<typename T::value_type>(rng_.next() >> 56U);
        } else if constexpr (IsVector<T>::value) {
            into.resize(rng_.below(4));
            for (auto& item : into) fill_value(item, false);
        } else if constexpr (std::is_same_v<T, Uuid>) {
            if (rng_.chance(80)) into = rng_.uuid();
        } else if constexpr (std::is_same_v<T, bool>) {
            into = rng_.chance(50);
        } else if constexpr (std::is_enum_v<T>) {
            std::underlying_type_t<T> number{};
            fill_value(number, false);
            into = static_cast<T>(number);
        } else if constexpr (std::is_integral_v<T>) {
            switch (rng_.below(4)) {
                case 0:
                    into = std::numeric_limits<T>::min();
                    break;
                case 1:
                    into = std::numeric_limits<T>::max();
                    break;
                case 2:
                    into = static_cast<T>(rng_.below(3));
                    break;
                default:
                    into = static_cast<T>(rng_.next());
                    break;
            }
        } else {
            fill(into);
        }
    }

    Rng& rng_;
    std::int16_t version_;
};

}  // namespace highwater::test

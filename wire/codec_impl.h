// The generic codec. Included only by the .cc file of each message, which instantiates it
// (HW_WIRE_INSTANTIATE).
#pragma once

#include <fmt/format.h>

#include <map>
#include <type_traits>

#include "base/assert.h"
#include "wire/codec.h"

namespace highwater::wire {
namespace codec {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::bool_constant<!std::is_same_v<T, std::uint8_t>> {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// A structure of its own, not a string, byte string or array.
template <class T>
inline constexpr bool kIsStructure =
    std::is_class_v<T> && !IsVector<T>::value && !std::is_same_v<T, std::string> && !std::is_same_v<T, Bytes>;

/// Most bytes of a string in a version that is not flexible.
inline constexpr std::size_t kMaxShortString = 0x7FFF;

// -- encoding --------------------------------------------------------------------------------

class Encoder {
public:
    Encoder(std::int16_t version, bool flexible) : version_(version), flexible_(flexible) {}

    template <class Struct>
    void structure(ByteWriter& out, const Struct& value) const {
        std::map<std::uint64_t, Bytes> tagged;
        std::apply([&](const auto&... fields) { (member(out, tagged, value, fields), ...); },
                   Struct::fields());
        if (!flexible_) return;
        out.uvarint(tagged.size());
        for (const auto& [tag, bytes] : tagged) {
            out.uvarint(tag);
            out.uvarint(bytes.size());
            out.raw(bytes);
        }
    }

private:
    template <class Struct, class T>
    void member(ByteWriter& out, std::map<std::uint64_t, Bytes>& tagged, const Struct& object,
                const Field<Struct, T>& field) const {
        if (!field.versions.has(version_)) return;
        const T& value = object.*field.member;
        const bool nullable = field.nullable_in.has(version_);
        if (!field.tagged_in.has(version_)) return this->value(out, value, nullable);
        static const Struct kDefaults{};
        if (value == kDefaults.*field.member) return;
        ByteWriter bytes;
        this->value(bytes, value, nullable);
        tagged.emplace(static_cast<std::uint64_t>(field.tag), bytes.take());
    }

    template <class T>
    void value(ByteWriter& out, const T& value, bool nullable) const {
        if constexpr (IsOptional<T>::value) {
            using Inner = typename T::value_type;
            if constexpr (kIsStructure<Inner>) {
                if (nullable) out.i8(value ? 1 : -1);
                if (nullable && !value) return;
            }
            if (value) return this->value(out, *value, nullable);
            // A null where the version has none: the empty value is the closest that can be said.
            if (!nullable) return this->value(out, Inner{}, false);
            if (flexible_) return out.uvarint(0);
            if constexpr (std::is_same_v<Inner, std::string>)
                out.i16(-1);
            else
                out.i32(-1);
        } else if constexpr (IsVector<T>::value) {
            if (flexible_)
                out.uvarint(value.size() + 1);
            else
                out.i32(static_cast<std::int32_t>(value.size()));
            for (const auto& item : value) this->value(out, item, false);
        } else if constexpr (std::is_same_v<T, Bytes>) {
            if (flexible_)
                out.uvarint(value.size() + 1);
            else
                out.i32(static_cast<std::int32_t>(value.size()));
            out.raw(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (flexible_) {
                out.uvarint(value.size() + 1);
                return out.raw(as_bytes_view(value));
            }
            // An error message may quote a name that itself filled its request: cut, as a peer must not stop
            // us.
            const std::string_view carried = std::string_view(value).substr(0, kMaxShortString);
            out.i16(static_cast<std::int16_t>(carried.size()));
            out.raw(as_bytes_view(carried));
        } else if constexpr (std::is_same_v<T, Uuid>)
            out.raw(value.bytes);
        else if constexpr (std::is_enum_v<T>)
            this->value(out, static_cast<std::underlying_type_t<T>>(value), false);
        else if constexpr (std::is_same_v<T, bool>)
            out.u8(value ? 1 : 0);
        else if constexpr (std::is_same_v<T, std::int8_t>)
            out.i8(value);
        else if constexpr (std::is_same_v<T, std::int16_t>)
            out.i16(value);
        else if constexpr (std::is_same_v<T, std::uint16_t>)
            out.u16(value);
        else if constexpr (std::is_same_v<T, std::int32_t>)
            out.i32(value);
        else if constexpr (std::is_same_v<T, std::int64_t>)
            out.i64(value);
        else
            structure(out, value);
    }

    std::int16_t version_;
    bool flexible_;
};

// -- decoding --------------------------------------------------------------------------------

class Decoder {
public:
    Decoder(BytesView body, std::int16_t version, bool flexible)
        : in_(body), version_(version), flexible_(flexible) {}

    [[nodiscard]] bool ok() const { return problem_.empty() && !in_.failed(); }
    [[nodiscard]] std::size_t position() const { return in_.position(); }
    [[nodiscard]] bool at_end() const { return in_.at_end(); }
    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

    template <class Struct>
    void structure(Struct& object) {
        std::apply([&](const auto&... fields) { (member(object, fields), ...); }, Struct::fields());
        if (flexible_ && ok()) tagged_section(object);
    }

private:
    void fail(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
        in_.fail();
    }

    template <class Struct, class T>
    void member(Struct& object, const Field<Struct, T>& field) {
        if (!ok() || !field.versions.has(version_) || field.tagged_in.has(version_)) return;
        where_ = field.name;
        value(object.*field.member, field.nullable_in.has(version_));
    }

    template <class Struct>
    void tagged_section(Struct& object) {
        const std::uint64_t count = in_.uvarint();
        for (std::uint64_t i = 0; i < count && ok(); ++i) {
            const std::uint64_t tag = in_.uvarint();
            const std::uint64_t size = in_.uvarint();
            if (size > in_.remaining()) return fail("a tagged field is longer than the message");
            const std::size_t end = in_.position() + size;
            std::apply([&](const auto&... fields) { (tagged_member(object, tag, fields), ...); },
                       Struct::fields());
            if (!ok()) return;
            if (in_.position() > end) return fail("a tagged field is longer than its size");
            in_.raw(end - in_.position());
        }
    }

    template <class Struct, class T>
    void tagged_member(Struct& object, std::uint64_t tag, const Field<Struct, T>& field) {
        if (!ok() || !field.tagged_in.has(version_) || static_cast<std::uint64_t>(field.tag) != tag) return;
        where_ = field.name;
        value(object.*field.member, field.nullable_in.has(version_));
    }

    /// Length of a string, byte string or array; -1 is null. Never more than the bytes that are left: every
    /// element takes at least one.
    std::int64_t length(bool short_form) {
        std::int64_t count = 0;
        if (flexible_) {
            const std::uint64_t raw = in_.uvarint();
            if (raw > std::uint64_t{1} << 32U) {
                fail("a length beyond 2^32");
                return 0;
            }
            count = static_cast<std::int64_t>(raw) - 1;
        } else {
            count = short_form ? in_.i16() : in_.i32();
        }
        if (count < -1) fail("a negative length");
        if (count > static_cast<std::int64_t>(in_.remaining())) {
            fail("a length beyond the end of the message");
        }
        return ok() ? count : 0;
    }

    template <class T>
    void value(T& into, bool nullable) {
        if constexpr (IsOptional<T>::value) {
            using Inner = typename T::value_type;
            std::int64_t count = 0;
            if constexpr (kIsStructure<Inner>)
                count = nullable ? in_.i8() : 1;  // there, or not
            else
                count = length(std::is_same_v<Inner, std::string>);
            if (!ok()) return;
            if (count < 0) {
                if (!nullable) return fail("null where this version has none");
                into.reset();
                return;
            }
            into.emplace();
            if constexpr (kIsStructure<Inner>)
                structure(*into);
            else
                sized(*into, count);
        } else if constexpr (IsVector<T>::value || std::is_same_v<T, Bytes> ||
                             std::is_same_v<T, std::string>) {
            const std::int64_t count = length(std::is_same_v<T, std::string>);
            if (!ok()) return;
            if (count < 0) return fail("null where this version has none");
            sized(into, count);
        } else if constexpr (std::is_same_v<T, Uuid>) {
            const BytesView raw = in_.raw(into.bytes.size());
            std::copy(raw.begin(), raw.end(), into.bytes.begin());
        } else if constexpr (std::is_enum_v<T>) {
            std::underlying_type_t<T> number{};
            value(number, false);
            into = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, bool>)
            into = in_.u8() != 0;
        else if constexpr (std::is_same_v<T, std::int8_t>)
            into = in_.i8();
        else if constexpr (std::is_same_v<T, std::int16_t>)
            into = in_.i16();
        else if constexpr (std::is_same_v<T, std::uint16_t>)
            into = in_.u16();
        else if constexpr (std::is_same_v<T, std::int32_t>)
            into = in_.i32();
        else if constexpr (std::is_same_v<T, std::int64_t>)
            into = in_.i64();
        else
            structure(into);
    }

    template <class T>
    void sized(T& into, std::int64_t count) {
        if constexpr (IsVector<T>::value) {
            into.clear();
            // Not reserved: a hostile count of large structs would allocate more than the input justifies.
            for (std::int64_t i = 0; i < count && ok(); ++i) value(into.emplace_back(), false);
        } else {
            const BytesView raw = in_.raw(static_cast<std::size_t>(count));
            into.assign(raw.begin(), raw.end());
        }
    }

    ByteReader in_;
    std::int16_t version_;
    bool flexible_;
    std::string where_;
    std::string problem_;
};

}  // namespace codec

template <class Message>
Bytes encode(const Message& message, std::int16_t version) {
    HW_ASSERT(Message::kVersions.has(version), "{} has no version {}", Message::kName, version);
    ByteWriter out;
    codec::Encoder(version, version >= Message::kFlexibleSince).structure(out, message);
    return out.take();
}

template <class Message>
Result<Message> decode(BytesView body, std::int16_t version) {
    if (!Message::kVersions.has(version)) {
        return failure(fmt::format("{} has no version {}", Message::kName, version));
    }
    Message message;
    codec::Decoder decoder(body, version, version >= Message::kFlexibleSince);
    decoder.structure(message);
    if (!decoder.ok()) {
        return failure(fmt::format("{} v{}: field {} at byte {}: {}", Message::kName, version,
                                   decoder.where(), decoder.position(),
                                   decoder.problem().empty() ? "the message ends" : decoder.problem()));
    }
    if (!decoder.at_end()) {
        return failure(fmt::format("{} v{}: {} bytes left over at byte {}", Message::kName, version,
                                   body.size() - decoder.position(), decoder.position()));
    }
    return message;
}

}  // namespace highwater::wire

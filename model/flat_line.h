// The shape that nearly every line of a long history has: one flat object without spaces, escapes or
// fractions, as our own recorder writes it. Whatever looks different is left to the general reader, so this
// one has no errors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/history.h"

namespace highwater {

enum class FlatNumber : std::uint8_t {
    T0,
    T,
    Partition,
    TheValue,
    TheOffset,
    Acks,
    Seq,
    Broker,
    From,
    Hw,
    LogStart,
    Lso
};
enum class FlatText : std::uint8_t { Op, Client, TheStatus, Error, Isolation };
enum class FlatFlag : std::uint8_t { Follower, Final, Complete };

/// The fields of one line; views point into it.
class FlatLine {
public:
    /// False: not of this shape; nothing can be said about the line.
    [[nodiscard]] bool read(std::string_view line);

    [[nodiscard]] bool has(FlatNumber key) const { return (seen_ >> static_cast<unsigned>(key) & 1U) != 0; }
    /// `absent` if the line lacks it.
    [[nodiscard]] std::int64_t number(FlatNumber key, std::int64_t absent) const {
        return has(key) ? numbers_[static_cast<std::size_t>(key)] : absent;
    }
    /// "" if the line lacks it.
    [[nodiscard]] std::string_view text(FlatText key) const { return texts_[static_cast<std::size_t>(key)]; }
    [[nodiscard]] bool flag(FlatFlag key) const { return flags_[static_cast<std::size_t>(key)]; }
    [[nodiscard]] const std::vector<ReadRecord>& records() const { return records_; }

private:
    bool member();
    bool value_of(std::string_view key);
    bool read_number(FlatNumber key);
    bool read_text(FlatText key);
    bool read_flag(FlatFlag key);
    bool read_records();
    bool integer(std::int64_t& number);
    bool plain(std::string_view& text);
    bool take(char expected);
    bool take(std::string_view expected);

    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::uint32_t seen_ = 0;
    std::array<std::int64_t, 12> numbers_{};
    std::array<std::string_view, 5> texts_{};
    std::array<bool, 3> flags_{};
    std::vector<ReadRecord> records_;
};

}  // namespace highwater

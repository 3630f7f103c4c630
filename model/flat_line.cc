// A scanner for flat lines. It must never accept what JSON forbids or read it differently; when in doubt it
// declines.
#include "model/flat_line.h"

#include <optional>

namespace highwater {
namespace {

/// More digits may not fit, and are no time, offset or value of ours.
constexpr int kMostDigits = 18;

std::optional<FlatNumber> number_key(std::string_view key) {
    switch (key.size()) {
        case 1:
            if (key == "t") return FlatNumber::T;
            break;
        case 2:
            if (key == "t0") return FlatNumber::T0;
            if (key == "hw") return FlatNumber::Hw;
            break;
        case 3:
            if (key == "seq") return FlatNumber::Seq;
            if (key == "lso") return FlatNumber::Lso;
            break;
        case 4:
            if (key == "acks") return FlatNumber::Acks;
            if (key == "from") return FlatNumber::From;
            break;
        case 5:
            if (key == "value") return FlatNumber::TheValue;
            break;
        case 6:
            if (key == "offset") return FlatNumber::TheOffset;
            if (key == "broker") return FlatNumber::Broker;
            break;
        case 9:
            if (key == "partition") return FlatNumber::Partition;
            if (key == "log_start") return FlatNumber::LogStart;
            break;
        default:
            break;
    }
    return std::nullopt;
}

std::optional<FlatText> text_key(std::string_view key) {
    if (key == "op") return FlatText::Op;
    if (key == "client") return FlatText::Client;
    if (key == "status") return FlatText::TheStatus;
    if (key == "error") return FlatText::Error;
    if (key == "isolation") return FlatText::Isolation;
    return std::nullopt;
}

std::optional<FlatFlag> flag_key(std::string_view key) {
    if (key == "follower") return FlatFlag::Follower;
    if (key == "final") return FlatFlag::Final;
    if (key == "complete") return FlatFlag::Complete;
    return std::nullopt;
}

}  // namespace

bool FlatLine::read(std::string_view line) {
    at_ = line.data();
    end_ = at_ + line.size();
    seen_ = 0;
    texts_ = {};
    flags_ = {};
    records_.clear();
    if (!take('{')) return false;
    do {
        if (!member()) return false;
    } while (take(','));
    return take('}') && at_ == end_;
}

bool FlatLine::member() {
    std::string_view key;
    return plain(key) && take(':') && value_of(key);
}

bool FlatLine::value_of(std::string_view key) {
    if (const auto number = number_key(key)) return read_number(*number);
    if (const auto text = text_key(key)) return read_text(*text);
    if (key == "records") return read_records();
    if (const auto flag = flag_key(key)) return read_flag(*flag);
    return false;
}

bool FlatLine::read_number(FlatNumber key) {
    seen_ |= 1U << static_cast<unsigned>(key);
    return integer(numbers_[static_cast<std::size_t>(key)]);
}

bool FlatLine::read_text(FlatText key) { return plain(texts_[static_cast<std::size_t>(key)]); }

bool FlatLine::read_flag(FlatFlag key) {
    bool& flag = flags_[static_cast<std::size_t>(key)];
    flag = take("true");
    return flag || take("false");
}

bool FlatLine::read_records() {
    records_.clear();
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
        ReadRecord record;
        const bool pair =
            take('[') && integer(record.offset) && take(',') && integer(record.value) && take(']');
        if (!pair || record.offset < 0) return false;
        records_.push_back(record);
    } while (take(','));
    return take(']');
}

bool FlatLine::integer(std::int64_t& number) {
    const bool negative = take('-');
    const char* const first = at_;
    std::int64_t digits = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') {
        if (at_ - first == kMostDigits) return false;
        digits = 10 * digits + (*at_++ - '0');
    }
    // JSON knows no leading zeros, and no number without digits.
    if (at_ == first || (*first == '0' && at_ - first > 1)) return false;
    number = negative ? -digits : digits;
    return true;
}

bool FlatLine::plain(std::string_view& text) {
    if (!take('"')) return false;
    const char* const first = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
        // Escapes, control characters and whatever is not ASCII.
        if (*at_ == '\\' || *at_ < 0x20 || *at_ == 0x7f) return false;
    }
    text = {first, static_cast<std::size_t>(at_ - first)};
    return take('"');
}

bool FlatLine::take(char expected) {
    if (at_ == end_ || *at_ != expected) return false;
    ++at_;
    return true;
}

bool FlatLine::take(std::string_view expected) {
    if (!std::string_view(at_, end_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
}

}  // namespace highwater

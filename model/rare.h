// What most operations of a history lack, kept small: a pointer where the value itself would cost a million
// operations its size.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace highwater {

/// A value on the heap that copies like one in place. Never empty, except after a move from it.
template <class T>
class Rare {
public:
    Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
    Rare(const Rare& other) : value_(std::make_unique<T>(*other.value_)) {}
    Rare(Rare&&) noexcept = default;
    Rare& operator=(const Rare& other) {
        if (this != &other) value_ = std::make_unique<T>(*other.value_);
        return *this;
    }
    Rare& operator=(Rare&&) noexcept = default;
    ~Rare() = default;

    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }

private:
    std::unique_ptr<T> value_;
};

/// A text that is nearly always empty, in the size of a pointer.
class RareText {
public:
    RareText() = default;
    RareText(std::string_view text) {  // NOLINT(google-explicit-constructor)
        if (!text.empty()) text_ = std::make_unique<const std::string>(text);
    }
    RareText(const std::string& text) : RareText(std::string_view(text)) {}  // NOLINT
    RareText(const char* text) : RareText(std::string_view(text)) {}         // NOLINT
    RareText(const RareText& other) : RareText(other.view()) {}
    RareText(RareText&&) noexcept = default;
    RareText& operator=(const RareText& other) {
        if (this != &other) *this = RareText(other.view());
        return *this;
    }
    RareText& operator=(RareText&&) noexcept = default;
    ~RareText() = default;

    [[nodiscard]] bool empty() const { return text_ == nullptr; }
    [[nodiscard]] std::string_view view() const { return text_ ? std::string_view(*text_) : ""; }
    friend bool operator==(const RareText& a, std::string_view b) { return a.view() == b; }

private:
    std::unique_ptr<const std::string> text_;
};

}  // namespace highwater

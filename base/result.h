// Result<T>: expected errors are values. Broken invariants are HW_ASSERT; exceptions stay at the edges (asio,
// JSON).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace highwater {

/// An error that a person will read: one sentence naming the file, line, key or offset at fault.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// A Result with nothing to carry on success.
using Status = Result<void>;

inline tl::unexpected<Error> failure(std::string message) {
    return tl::make_unexpected(Error{std::move(message)});
}

/// The same error, told from further out: "context: message".
inline tl::unexpected<Error> failure(const std::string& context, const Error& cause) {
    return tl::make_unexpected(Error{context + ": " + cause.message});
}

}  // namespace highwater

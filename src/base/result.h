#pragma once
// Errors as values. Expected failures travel as Result<T>; absent things as std::optional; broken
// invariants abort through CHECK (base/check.h). We throw no exceptions.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace lavant {

enum class ErrorCode {
    InvalidArgument,
    Unauthenticated,
    PermissionDenied,
    NotFound,
    AlreadyExists,
    Conflict,
    ResourceExhausted,
    Unavailable,
    DeadlineExceeded,
    Internal,
};

std::string_view name_of(ErrorCode code);

// One thing wrong with a document a user wrote. Lines and columns count from 1; 0 means unknown.
struct FieldProblem {
    std::string path;
    std::string message;
    int line = 0;
    int column = 0;
    bool operator==(const FieldProblem&) const = default;
};

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
    std::vector<FieldProblem> fields;
    bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
    return tl::make_unexpected(Error{code, std::move(message), {}});
}
inline tl::unexpected<Error> fail(Error error) { return tl::make_unexpected(std::move(error)); }

// Error for a failed system call: "cannot open '/x': No such file or directory".
Error system_error(std::string_view attempted, int errno_value);

// Adds context at a layer boundary: load(x).map_error(in("loading job spec")).
inline auto in(std::string context) {
    return [context = std::move(context)](Error error) {
        error.message = context + ": " + error.message;
        return error;
    };
}

}  // namespace lavant

#define LAVANT_CONCAT_(a, b) a##b
#define LAVANT_CONCAT(a, b) LAVANT_CONCAT_(a, b)
#define LAVANT_TRY_(slot, declaration, expression)                    \
    auto slot = (expression);                                         \
    if (!slot) return ::tl::make_unexpected(std::move(slot).error()); \
    declaration = std::move(slot).value()
// LAVANT_TRY(auto job, load_job(id)); returns the error upward. The only control-flow macro.
#define LAVANT_TRY(declaration, expression) \
    LAVANT_TRY_(LAVANT_CONCAT(try_slot_, __LINE__), declaration, expression)
// The same for Result<void>.
#define LAVANT_TRY_VOID(expression)                                                                  \
    if (auto LAVANT_CONCAT(try_slot_, __LINE__) = (expression); !LAVANT_CONCAT(try_slot_, __LINE__)) \
    return ::tl::make_unexpected(std::move(LAVANT_CONCAT(try_slot_, __LINE__)).error())

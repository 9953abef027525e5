#include "base/result.h"

#include <cerrno>
#include <system_error>

#include "base/check.h"

namespace lavant {

std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
            return "InvalidArgument";
        case ErrorCode::Unauthenticated:
            return "Unauthenticated";
        case ErrorCode::PermissionDenied:
            return "PermissionDenied";
        case ErrorCode::NotFound:
            return "NotFound";
        case ErrorCode::AlreadyExists:
            return "AlreadyExists";
        case ErrorCode::Conflict:
            return "Conflict";
        case ErrorCode::ResourceExhausted:
            return "ResourceExhausted";
        case ErrorCode::Unavailable:
            return "Unavailable";
        case ErrorCode::DeadlineExceeded:
            return "DeadlineExceeded";
        case ErrorCode::Internal:
            return "Internal";
    }
    CHECK(false, "error code outside its enum");
}

Error system_error(std::string_view attempted, int errno_value) {
    ErrorCode code = ErrorCode::Internal;
    if (errno_value == ENOENT) code = ErrorCode::NotFound;
    if (errno_value == EEXIST) code = ErrorCode::AlreadyExists;
    if (errno_value == EACCES || errno_value == EPERM) code = ErrorCode::PermissionDenied;
    if (errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EMFILE || errno_value == ENOMEM)
        code = ErrorCode::ResourceExhausted;
    if (errno_value == EAGAIN || errno_value == ECONNREFUSED || errno_value == EADDRINUSE)
        code = ErrorCode::Unavailable;
    std::string text = "cannot ";
    text += attempted;
    text += ": ";
    text += std::generic_category().message(errno_value);
    return {code, std::move(text), {}};
}

}  // namespace lavant

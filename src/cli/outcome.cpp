#include "cli/outcome.h"

#include "base/check.h"

namespace lavant::cli {

Exit Failure::exit_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
        case ErrorCode::NotFound:
        case ErrorCode::AlreadyExists:
            return Exit::Usage;
        case ErrorCode::Unavailable:
        case ErrorCode::DeadlineExceeded:
            return Exit::Unreachable;
        case ErrorCode::Unauthenticated:
        case ErrorCode::PermissionDenied:
        case ErrorCode::Conflict:
        case ErrorCode::ResourceExhausted:
        case ErrorCode::Internal:
            return Exit::Failed;
    }
    CHECK(false, "every code has an exit");
}

}  // namespace lavant::cli

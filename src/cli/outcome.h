#pragma once
// How a command ends. The exit codes are a promise to scripts: docs/cli.md.

#include <utility>

#include "base/result.h"

namespace lavant::cli {

enum class Exit : int {
    Completed = 0,
    Failed = 1,  // the job failed, or something on this machine did
    Usage = 2,   // the command line or the job file is wrong; nothing was sent
    Canceled = 3,
    Unreachable = 4,  // no server answers
    Refused = 5,      // the server answered no
};

struct Failure {
    Exit exit = Exit::Failed;
    Error error;

    Failure(Exit code, Error why) : exit(code), error(std::move(why)) {}
    // Of an error that arose on this side. Implicit, so that LAVANT_TRY carries a Result's error upward.
    Failure(Error why)
        : exit(exit_of(why.code)), error(std::move(why)) {}  // NOLINT(google-explicit-constructor)

    static Exit exit_of(ErrorCode code);
};

template <class T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> stop(Exit exit, ErrorCode code, std::string message) {
    return tl::make_unexpected(Failure(exit, Error{code, std::move(message), {}}));
}

}  // namespace lavant::cli

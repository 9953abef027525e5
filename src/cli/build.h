#pragma once
// Which program a server or a command line is, and which of two is the newer one.

#include <cstdint>
#include <string>

namespace lavant::cli {

struct Build {
    std::string version = {};     // "0.1.0"
    std::string id = {};          // differs between two builds of one version; "" if unknown
    std::int64_t made_at_us = 0;  // when the program's file was written
};

// Whether a local server of `theirs` should give way to one of `mine`: a later version or, of the same
// version, a later build. What cannot be told apart stays.
bool supersedes(const Build& mine, const Build& theirs);

// "0.1.0 -> 0.2.0", or with the builds where the versions are equal.
std::string describe_change(const Build& from, const Build& to);

}  // namespace lavant::cli

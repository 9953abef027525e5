#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lavant {

void check_failed(const char* condition, const char* why, const char* file, int line) {
    std::fprintf(stderr, "lavant: broken invariant: %s (%s) at %s:%d\n", why, condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace lavant

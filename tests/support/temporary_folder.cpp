#include "tests/support/temporary_folder.h"

#include <unistd.h>

#include <cstdlib>

#include "base/check.h"
#include "base/files.h"

namespace lavant::test {

TemporaryFolder::TemporaryFolder(On where) {
    const char* base = std::getenv("TMPDIR");
    path_ = base != nullptr ? base : "/tmp";
    if (where == On::Memory && ::access("/dev/shm", W_OK) == 0) path_ = "/dev/shm";
    path_ += "/lavant-test-XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr, "tests need a temporary folder");
}

TemporaryFolder::~TemporaryFolder() { (void)remove_tree(path_); }

}  // namespace lavant::test

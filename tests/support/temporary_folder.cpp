#include "tests/support/temporary_folder.h"

#include <cstdlib>

#include "base/check.h"
#include "base/files.h"

namespace lavant::test {

TemporaryFolder::TemporaryFolder() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/lavant-test-XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr, "tests need a temporary folder");
}

TemporaryFolder::~TemporaryFolder() { (void)remove_tree(path_); }

}  // namespace lavant::test

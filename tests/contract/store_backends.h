#pragma once
// The stores the contract is run against. A new database joins by one more entry of backends().

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/store.h"

namespace lavant::test {

// One database with its two sides.
class StoreBackend {
 public:
    virtual ~StoreBackend() = default;
    virtual ports::Store& store() = 0;
    virtual ports::Reader& reader() = 0;
    virtual void reopen() = 0;  // as a server that ended and starts again
};

struct BackendKind {
    std::string name;
    std::function<std::unique_ptr<StoreBackend>()> make;
};
std::vector<BackendKind> backends();

}  // namespace lavant::test

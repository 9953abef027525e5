#pragma once
#include <functional>

namespace lavant::test {

// True as soon as `condition` holds; false after 20 seconds. For what another process or thread does.
bool wait_until(const std::function<bool()>& condition);

}  // namespace lavant::test

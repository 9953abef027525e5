#include "base/id.h"

namespace lavant {

std::string to_string(NodeId id) { return "node-" + std::to_string(id.value); }

}  // namespace lavant

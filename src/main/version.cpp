#include "main/version.h"

// The one file that is compiled anew for another version, which CMakeLists.txt names.
namespace lavant {
const char* const kVersion = LAVANT_VERSION;
}

#pragma once

namespace lavant {
extern const char* const kVersion;
}

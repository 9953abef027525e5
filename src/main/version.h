#pragma once

namespace lavant {
inline constexpr const char* kVersion = "0.1.0";
}

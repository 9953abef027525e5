#pragma once
// CHECK(condition, "why it must hold"): on in release too. A failed CHECK logs and aborts; that is the
// same path as a power cut, which state and agents survive.

namespace lavant {
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);
}

#define CHECK(condition, why)                                            \
    do {                                                                 \
        if (!(condition)) [[unlikely]]                                   \
            ::lavant::check_failed(#condition, why, __FILE__, __LINE__); \
    } while (false)

#pragma once
// Memory for a plan, apart from the heap: the supervisor needs nothing but this, so the process that forks it
// need not have the agent's heap (see launcher.h).

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace lavant::sandbox_linux {

class Arena {
 public:
    Arena() = default;
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Forgets everything and makes room for at least `bytes`. False: no memory.
    bool start(std::size_t bytes);
    // Copies, with a zero byte at the end. There must be room.
    const char* text(std::initializer_list<std::string_view> parts);
    template <class T>
    T* list(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        T* items = static_cast<T*>(take(count * sizeof(T), alignof(T)));
        for (std::size_t i = 0; i < count; ++i) new (items + i) T();
        return items;
    }

    char* begin() const { return begin_; }
    std::size_t size() const { return size_; }
    std::size_t used() const { return used_; }

 private:
    void* take(std::size_t bytes, std::size_t alignment);
    char* begin_ = nullptr;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
};

}  // namespace lavant::sandbox_linux

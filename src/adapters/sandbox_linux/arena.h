#pragma once
// Memory for a plan, apart from the heap: the supervisor needs nothing but this, so the process that makes it
// need not have the agent's heap (see launcher.h). Arenas of one block are shared with the launcher.

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace lavant::sandbox_linux {

class Arena {
 public:
    Arena() = default;
    // Begins in shared memory, and leaves it for memory of its own only if that does not suffice.
    Arena(char* shared, std::size_t bytes) : shared_(shared), shared_bytes_(bytes) {}
    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&&) = delete;

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

    char* room(std::size_t bytes) { return static_cast<char*>(take(bytes, 64)); }  // as it is

    bool is_shared() const { return shared_ != nullptr && begin_ == shared_; }

 private:
    void* take(std::size_t bytes, std::size_t alignment);
    void drop();
    char* shared_ = nullptr;
    std::size_t shared_bytes_ = 0;
    char* begin_ = nullptr;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
};

// Memory that a process made later by fork has in common with this one; given back when this ends.
class SharedBlock {
 public:
    SharedBlock() = default;
    ~SharedBlock();
    SharedBlock(const SharedBlock&) = delete;
    SharedBlock& operator=(const SharedBlock&) = delete;
    bool make(std::size_t bytes);
    char* begin() const { return begin_; }

 private:
    char* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace lavant::sandbox_linux

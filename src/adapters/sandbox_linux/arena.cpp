#include "adapters/sandbox_linux/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace lavant::sandbox_linux {

Arena::~Arena() {
    if (begin_ != nullptr) ::munmap(begin_, size_);
}

bool Arena::start(std::size_t bytes) {
    used_ = 0;
    if (bytes <= size_) return true;
    constexpr std::size_t kLeastBytes = 128U << 10;
    const std::size_t size = (std::max(bytes, kLeastBytes) + 4095) / 4096 * 4096;
    void* made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return false;
    if (begin_ != nullptr) ::munmap(begin_, size_);
    begin_ = static_cast<char*>(made);
    size_ = size;
    return true;
}

const char* Arena::text(std::initializer_list<std::string_view> parts) {
    std::size_t length = 1;
    for (const std::string_view part : parts) length += part.size();
    char* const begin = static_cast<char*>(take(length, 1));
    char* end = begin;
    for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
    *end = '\0';
    return begin;
}

void* Arena::take(std::size_t bytes, std::size_t alignment) {
    const std::size_t from = (used_ + alignment - 1) / alignment * alignment;
    CHECK(from + bytes <= size_, "a plan fits into the room that was made for it");
    used_ = from + bytes;
    return begin_ + from;
}

}  // namespace lavant::sandbox_linux

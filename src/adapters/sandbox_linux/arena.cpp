#include "adapters/sandbox_linux/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace lavant::sandbox_linux {

Arena::~Arena() { drop(); }

Arena::Arena(Arena&& other) noexcept
    : shared_(other.shared_),
      shared_bytes_(other.shared_bytes_),
      begin_(std::exchange(other.begin_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      used_(std::exchange(other.used_, 0)) {}

void Arena::drop() {
    if (begin_ != nullptr && !is_shared()) ::munmap(begin_, size_);
    begin_ = nullptr;
    size_ = 0;
}

bool Arena::start(std::size_t bytes) {
    used_ = 0;
    if (shared_ != nullptr && bytes <= shared_bytes_) {
        drop();
        begin_ = shared_;
        size_ = shared_bytes_;
        return true;
    }
    if (bytes <= size_) return true;
    drop();
    const std::size_t size = (bytes + 4095) / 4096 * 4096;
    void* made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return false;
    begin_ = static_cast<char*>(made);
    size_ = size;
    return true;
}

SharedBlock::~SharedBlock() {
    if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

bool SharedBlock::make(std::size_t bytes) {
    void* made =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    begin_ = static_cast<char*>(made);
    bytes_ = bytes;
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

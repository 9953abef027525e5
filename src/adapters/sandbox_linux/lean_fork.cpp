#include "adapters/sandbox_linux/lean_fork.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace lavant::sandbox_linux {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPossible = false;  // Their runtimes use memory of their own everywhere.
#else
constexpr bool kPossible = true;
#endif

bool binds_at_start(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_BIND_NOW) return true;
        if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_BIND_NOW) != 0) return true;
        if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NOW) != 0) return true;
    }
    return false;
}

struct Mapping {
    std::uintptr_t begin = 0, end = 0;
    std::string_view path;
};

std::optional<Mapping> parse_mapping(std::string_view line) {
    Mapping mapping;
    const char* const stop = line.data() + line.size();
    const auto first = std::from_chars(line.data(), stop, mapping.begin, 16);
    if (first.ec != std::errc{} || first.ptr == stop) return std::nullopt;
    if (std::from_chars(first.ptr + 1, stop, mapping.end, 16).ec != std::errc{}) return std::nullopt;
    if (const std::size_t slash = line.find_first_of("/["); slash != std::string_view::npos) mapping.path = line.substr(slash);
    return mapping;
}

bool is_needed(std::string_view path, std::string_view program) {
    if (!path.starts_with('/') || path == program) return true;
    const std::string name = base_name_of(std::string(path));
    for (const char* kept : {"libc.so", "libc-", "ld-linux", "ld-", "libstdc++", "libgcc_s", "libm.so", "libm-"})
        if (name.starts_with(kept)) return true;
    return name.find(".so") == std::string::npos;
}

}  // namespace

void LeanFork::leave_out_libraries() {
    if (!kPossible || !binds_at_start(_DYNAMIC)) return;
    std::array<char, 4096> program{};
    const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
    const auto maps = read_file("/proc/self/maps", 16U << 20);
    if (length <= 0 || !maps) return;
    for (const std::string_view line : split(*maps, '\n')) {
        const auto mapping = parse_mapping(line);
        if (!mapping) continue;
        auto* const begin = reinterpret_cast<char*>(mapping->begin);
        if (mapping->path == "[heap]") heap_ = begin;
        if (is_needed(mapping->path, {program.data(), static_cast<std::size_t>(length)})) continue;
        const unsigned long bytes = mapping->end - mapping->begin;
        if (::madvise(begin, bytes, MADV_DONTFORK) == 0) left_out_.emplace_back(begin, bytes);
    }
}

void LeanFork::undo() {
    for (const auto& [begin, bytes] : left_out_) ::madvise(begin, bytes, MADV_DOFORK);
    left_out_.clear();
    heap_ = nullptr;
}

LeanFork::WithoutHeap::WithoutHeap(const LeanFork& lean) {
    if (lean.heap_ == nullptr) return;
    auto* const end = static_cast<char*>(::sbrk(0));
    if (end <= lean.heap_) return;
    begin_ = lean.heap_;
    bytes_ = static_cast<unsigned long>(end - begin_);
    ::madvise(begin_, bytes_, MADV_DONTFORK);
}

LeanFork::WithoutHeap::~WithoutHeap() {
    if (begin_ != nullptr) ::madvise(begin_, bytes_, MADV_DOFORK);
}

}  // namespace lavant::sandbox_linux

#include "main/build.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/text.h"
#include "main/version.h"

namespace lavant {
namespace {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

// The linker's build id, from the notes of the program itself: the first one that is told of.
int read_build_id(::dl_phdr_info* program, std::size_t, void* into) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = program->dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        std::string_view notes(reinterpret_cast<const char*>(program->dlpi_addr + header.p_vaddr),
                               header.p_memsz);
        while (notes.size() >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note{};
            std::memcpy(&note, notes.data(), sizeof note);
            const std::size_t name_at = sizeof note;
            const std::size_t value_at = name_at + padded(note.n_namesz);
            if (value_at + padded(note.n_descsz) > notes.size()) break;
            if (note.n_type == NT_GNU_BUILD_ID && notes.substr(name_at, 4) == std::string_view("GNU\0", 4)) {
                *static_cast<std::string*>(into) = to_hex(notes.substr(value_at, note.n_descsz));
                return 1;
            }
            notes.remove_prefix(value_at + padded(note.n_descsz));
        }
    }
    return 1;  // Libraries follow; they do not count.
}

}  // namespace

const cli::Build& own_build() {
    static const cli::Build kBuild = [] {
        cli::Build build{.version = kVersion};
        ::dl_iterate_phdr(read_build_id, &build.id);
        struct stat status {};
        if (::stat("/proc/self/exe", &status) == 0)
            build.made_at_us = status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1'000;
        return build;
    }();
    return kBuild;
}

std::string own_program() {
    std::string path(4096, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return path;
}

}  // namespace lavant

#include "adapters/nodes_local/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.h"

namespace lavant::nodes_local {
namespace {

constexpr mode_t kMode = 0755;
constexpr std::size_t kChunkBytes = 64U << 10;

bool holds(const std::string& path, std::string_view program) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
    if ((found.st_mode & 0777) != kMode || static_cast<std::size_t>(found.st_size) != program.size())
        return false;
    std::array<char, kChunkBytes> chunk{};
    while (!program.empty()) {
        const ssize_t count = ::read(file.get(), chunk.data(), std::min(chunk.size(), program.size()));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        const auto bytes = static_cast<std::size_t>(count);
        if (program.substr(0, bytes) != std::string_view(chunk.data(), bytes)) return false;
        program.remove_prefix(bytes);
    }
    return true;
}

// Not synced: what a power cut leaves of it does not compare equal.
Result<void> write_program(const std::string& path, std::string_view program) {
    const std::string beside = path + ".new";
    LAVANT_TRY_VOID(remove_tree(beside));
    LAVANT_TRY(Fd file, open_file(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC));
    LAVANT_TRY_VOID(write_all(file.get(), program).map_error(in(beside)));
    if (::fchmod(file.get(), kMode) != 0) return fail(system_error("make '" + beside + "' a program", errno));
    file.reset();
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return fail(system_error("rename to '" + path + "'", errno));
    return {};
}

}  // namespace

Result<void> install_program(const std::string& path, std::string_view program) {
    if (!holds(path, program)) {
        LAVANT_TRY_VOID(make_directories(parent_of(path)));
        LAVANT_TRY_VOID(write_program(path, program));
    }
    if (::access(path.c_str(), X_OK) == 0) return {};
    return fail(ErrorCode::PermissionDenied,
                "'" + path + "' cannot be executed; mount its file system without noexec");
}

}  // namespace lavant::nodes_local

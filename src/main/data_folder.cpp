#include "main/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "main/version.h"

namespace lavant {

Result<Fd> lock_data_folder(const DataFolder& folder) {
    LAVANT_TRY_VOID(make_directories(folder.root).map_error(in("the data folder")));
    LAVANT_TRY(Fd lock, open_file(folder.root + "/lock", O_RDWR | O_CREAT));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return fail(system_error("lock '" + folder.root + "'", errno));
        return fail(ErrorCode::AlreadyExists,
                    "another server already uses the data folder '" + folder.root +
                        "'; use that one, end it with 'lavant down', or choose another --data");
    }
    return lock;
}

Result<void> write_endpoint(const DataFolder& folder, const std::string& url, const std::string& ca_file) {
    const std::string text = "{\"url\":" + json_quote(url) + ",\"pid\":" + std::to_string(::getpid()) +
                             ",\"ca\":" + json_quote(ca_file) + ",\"version\":" + json_quote(kVersion) +
                             "}\n";
    return write_file_atomically(folder.endpoint(), text);
}

}  // namespace lavant

#include "main/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "main/build.h"
#include "wire/json.h"

namespace lavant {

bool DataFolder::is_ours(const std::string& name) {
    static constexpr std::string_view kNames[] = {
        "lavant.db", "lavant.db-wal", "lavant.db-shm", "lavant.db-journal", "secret.key", "tls",  "blobs",
        "nodes",     "bin",           "owner.key",     "endpoint",          "port",       "lock", "serve.log",
        "spare",     "backup",        "ca-bundle.pem"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

Result<Fd> lock_data_folder(const DataFolder& folder) {
    LAVANT_TRY_VOID(make_directories(folder.root).map_error(in("the data folder")));
    LAVANT_TRY(Fd lock, open_file(folder.lock(), O_RDWR | O_CREAT));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return fail(system_error("lock '" + folder.root + "'", errno));
        return fail(ErrorCode::AlreadyExists,
                    "another server already uses the data folder '" + folder.root +
                        "'; use that one, end it with 'lavant down', or choose another --data");
    }
    return lock;
}

Result<void> write_endpoint(const DataFolder& folder, const Endpoint& endpoint) {
    const cli::Build& build = own_build();
    const wire::Json text = wire::Json::object({{"url", endpoint.url},
                                                {"pid", ::getpid()},
                                                {"ca", endpoint.ca_file},
                                                {"version", build.version},
                                                {"build", build.id},
                                                {"builtAt", build.made_at_us},
                                                {"since", to_rfc3339(endpoint.since)},
                                                {"embedded", endpoint.embedded},
                                                {"idleExit", endpoint.idle_exit_s}});
    return write_file_atomically(folder.endpoint(), text.dump() + "\n");
}

}  // namespace lavant

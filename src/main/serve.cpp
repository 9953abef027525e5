#include "main/serve.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "main/data_folder.h"
#include "main/server.h"

namespace lavant {
namespace {

void tell_starter(int fd, const std::string& line) {
    if (fd < 0) return;
    (void)write_all(fd, line + "\n");
    ::close(fd);
}

// Threads made later inherit the mask, so that SIGTERM and SIGINT reach only who asks for them.
Fd block_stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    return Fd(::signalfd(-1, &signals, SFD_CLOEXEC));
}

std::string with_remedy(const Error& error) {
    const bool needs_one = error.code == ErrorCode::ResourceExhausted &&
                           error.message.find("free some space") == std::string::npos;
    return error.message + (needs_one ? "; free some space on the disk of the data folder" : "");
}

}  // namespace

int run_serve(const ServeOptions& options) {
    const DataFolder folder{options.data};
    const Result<Fd> lock = lock_data_folder(folder);
    if (!lock) {
        const bool taken = lock.error().code == ErrorCode::AlreadyExists;
        tell_starter(options.ready_fd, taken ? "taken" : "error " + lock.error().message);
        std::fprintf(stderr, "lavant: %s\n", lock.error().message.c_str());
        return 1;
    }
    LogSettings log_settings = options.log;
    if (options.embedded && log_settings.file.empty()) log_settings.file = folder.log();
    configure_log(log_settings);
    const Fd stop_signals = block_stop_signals();

    Server server(options);
    const Result<std::string> url = server.start();
    if (!url) {
        const std::string why = with_remedy(url.error());
        log(Level::Error, "start_failed", {{"message", why}});
        tell_starter(options.ready_fd, "error " + why);
        std::fprintf(stderr, "lavant: cannot start the server: %s\n", why.c_str());
        return 1;
    }
    tell_starter(options.ready_fd, "ready");
    if (!options.embedded)
        std::fprintf(stderr, "lavant: serving %s (data in %s)\n", url->c_str(), options.data.c_str());
    server.run_until_stopped(stop_signals.get());
    ::unlink(folder.endpoint().c_str());
    flush_log();
    return 0;
}

}  // namespace lavant

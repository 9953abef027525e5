#include "adapters/sandbox_linux/launcher.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sandbox_linux/supervisor.h"
#include "base/text.h"

namespace lavant::sandbox_linux {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPossible = false;  // Their runtimes use memory of their own everywhere.
#elif defined(__x86_64__)
constexpr bool kPossible = true;
#else
constexpr bool kPossible = false;  // clone_onto() is written for one processor.
#endif

// --- which memory the launcher needs ---

#pragma weak _DYNAMIC

// A function that is bound at its first use is looked up in every library: the launcher has none left to look
// in.
bool binds_at_start(const ElfW(Dyn) * entry) {
    if (entry == nullptr) return true;  // A static program.
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
    if (const std::size_t path = line.find_first_of("/["); path != std::string_view::npos)
        mapping.path = line.substr(path);
    return mapping;
}

bool is_needed(std::string_view path) {
    if (path == "[heap]") return false;
    const std::string name = base_name_of(std::string(path));
    if (!path.starts_with('/') || name.find(".so") == std::string::npos) return true;
    for (const char* kept : {"libc.so", "libc-", "ld-", "libstdc++", "libgcc_s", "libm.so", "libm-"})
        if (name.starts_with(kept)) return true;
    return false;
}

struct Range {
    void* begin = nullptr;
    std::size_t bytes = 0;
};
constexpr std::size_t kRangesMax = 1024;

// On the stack, because the heap itself is among what goes.
struct Ranges {
    std::array<Range, kRangesMax> items{};
    std::size_t count = 0;
};

// In a static program the heap begins with the thread's own block: its thread-local variables and, from the
// address that names the thread, the C library's record of it, which is smaller than a page.
void spare_thread_block(Mapping& mapping) {
    constexpr std::uintptr_t kPage = 4096;
    const auto thread = static_cast<std::uintptr_t>(::pthread_self());
    if (mapping.begin <= thread && thread < mapping.end)
        mapping.begin = std::min(mapping.end, (thread / kPage + 2) * kPage);
}

Ranges find_unneeded() {
    Ranges ranges;
    const auto maps = read_file("/proc/self/maps", 16U << 20);
    if (!maps) return ranges;
    for (const std::string_view line : split(*maps, '\n')) {
        auto mapping = parse_mapping(line);
        if (!mapping || is_needed(mapping->path) || ranges.count == kRangesMax) continue;
        spare_thread_block(*mapping);
        ranges.items[ranges.count++] = {reinterpret_cast<void*>(mapping->begin),
                                        mapping->end - mapping->begin};
    }
    return ranges;
}

// --- what agent and launcher say to each other ---

constexpr std::size_t kFilesMax = 6;

struct Request {
    Plan plan;
    ForkPlace place;
};

struct Reply {
    pid_t pid = -1;
    int error = 0;
};

union Control {
    cmsghdr align;
    std::array<char, CMSG_SPACE(sizeof(int) * kFilesMax)> bytes;
};

// The places of a request that hold descriptors, in the order they travel in.
std::array<int*, kFilesMax> files_of(Request& request) {
    Plan& plan = request.plan;
    return {&plan.state_fd,    &plan.log_fd,          &plan.go_fd,
            &plan.mounts.view, &plan.mounts.identity, &request.place.cgroup};
}

// The request itself lies in memory that both have; only where, and its descriptors, go through the socket.
Request* receive(int socket) {
    Request* request = nullptr;
    iovec part{&request, sizeof request};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof request) return nullptr;
    std::array<int, kFilesMax> received{};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_len > CMSG_LEN(sizeof received)) return nullptr;
    std::memcpy(received.data(), CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
    std::size_t next = 0;
    for (int* file : files_of(*request))
        if (*file >= 0) *file = received[next++];
    return request;
}

void supervise_request(void* request) { supervise(static_cast<Request*>(request)->plan); }

// clone3 with a new stack, on which the child calls `function`, which must not return.
long clone_onto(clone_args& arguments, void (*function)(void*), void* argument) {
#if defined(__x86_64__)
    long result = SYS_clone3;
    register void (*first)(void*) asm("r12") = function;
    register void* second asm("r13") = argument;
    asm volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "mov %%r13, %%rdi\n\t"
        "call *%%r12\n\t"
        "hlt\n"
        "1:"
        : "+a"(result)
        : "D"(&arguments), "S"(sizeof arguments), "r"(first), "r"(second)
        : "rcx", "r11", "memory");
    return result;
#else
    (void)arguments, (void)function, (void)argument;
    return -ENOSYS;
#endif
}

clone_args arguments_for(const ForkPlace& place) {
    clone_args arguments{};
    arguments.flags = CLONE_CLEAR_SIGHAND;
    if (place.namespaces) arguments.flags |= CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    if (place.cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<decltype(arguments.cgroup)>(place.cgroup);
    }
    return arguments;
}

[[noreturn]] void run_launcher(int socket) {
    ::prctl(PR_SET_NAME, "lavant-launcher", 0, 0, 0);
    constexpr int kSocket = 3;
    if (socket != kSocket) ::dup2(socket, kSocket);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(nothing, standard);
    raise_own_oom_score();
    reset_signals();
    ::syscall(SYS_close_range, kSocket + 1, ~0U, 0);
    while (Request* request = receive(kSocket)) {
        request->plan.from_launcher = true;
        clone_args arguments = arguments_for(request->place);
        arguments.flags |= CLONE_PARENT | CLONE_VM;
        arguments.stack = reinterpret_cast<std::uintptr_t>(request->plan.supervisor_stack);
        arguments.stack_size = kPlanStackBytes;
        const long made = clone_onto(arguments, supervise_request, request);
        const Reply reply{.pid = made < 0 ? -1 : static_cast<pid_t>(made),
                          .error = made < 0 ? static_cast<int>(-made) : 0};
        ::syscall(SYS_close_range, kSocket + 1, ~0U, 0);
        if (::send(kSocket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) break;
    }
    ::_exit(0);
}

}  // namespace

pid_t fork_supervisor(const Plan& plan, const ForkPlace& place) {
    clone_args arguments = arguments_for(place);
    arguments.exit_signal = SIGCHLD;
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid == 0) supervise(plan);
    return static_cast<pid_t>(pid);
}

void Launcher::start() {
    std::array<int, 2> ends{};
    if (!kPossible || !binds_at_start(_DYNAMIC)) return;
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    socket_.reset(ends[0]);
    const Fd theirs(ends[1]);
    const Ranges unneeded = find_unneeded();
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid_ = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid_ == 0) {
        const int socket = theirs.get();
        for (std::size_t i = 0; i < unneeded.count; ++i)
            ::munmap(unneeded.items[i].begin, unneeded.items[i].bytes);
        run_launcher(socket);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid_ < 0) socket_.reset();
}

void Launcher::stop() {
    socket_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

Result<pid_t> Launcher::launch(const Plan& plan, const ForkPlace& place, Arena& arena) {
    // A supervisor that looks for processes needs a heap; a plan that outgrew the shared memory lies
    // elsewhere.
    if (!socket_ || plan.find_descendants || !arena.is_shared()) return 0;
    Request* const request = arena.list<Request>(1);
    *request = {.plan = plan, .place = place};
    std::array<int, kFilesMax> files{};
    std::size_t count = 0;
    for (const int* file : files_of(*request))
        if (*file >= 0) files[count++] = *file;
    const Request* where = request;
    iovec part{&where, sizeof where};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    std::memcpy(CMSG_DATA(header), files.data(), sizeof(int) * count);
    Reply reply;
    ssize_t received = -1;
    if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) > 0)
        while ((received = ::recv(socket_.get(), &reply, sizeof reply, 0)) < 0 && errno == EINTR) {
        }
    if (received != sizeof reply) {
        // It was killed. Whatever it had made sees that this start is never recorded, and ends.
        stop();
        return 0;
    }
    if (reply.pid < 0) return fail(system_error("start the task's supervisor", reply.error));
    return reply.pid;
}

}  // namespace lavant::sandbox_linux

#pragma once
// System calls for a process that shares its memory with its parent (see launcher.h): errno is one variable
// for both there, so each caller keeps the error of its last failed call in a Sys of its own. Otherwise they
// are like their namesakes: -1 or the result.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <type_traits>

namespace lavant::sandbox_linux {

class Sys {
 public:
    int error = 0;

    template <class... Arguments>
    long call(long number, Arguments... arguments) {
        static_assert(sizeof...(arguments) <= 6);
        const long words[6] = {word(arguments)...};
#if defined(__x86_64__)
        long result = number;
        register long fourth asm("r10") = words[3];
        register long fifth asm("r8") = words[4];
        register long sixth asm("r9") = words[5];
        asm volatile("syscall"
                     : "+a"(result)
                     : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
        if (result >= 0 || result < -4095) return result;
        error = static_cast<int>(-result);
#else
        const long result = ::syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
        if (result != -1) return result;
        error = errno;
#endif
        return -1;
    }

    int open(const char* path, int flags, mode_t mode = 0) {
        return static_cast<int>(call(SYS_openat, AT_FDCWD, path, flags, mode));
    }
    int close(int file) { return static_cast<int>(call(SYS_close, file)); }
    int mkdir(const char* path, mode_t mode) {
        return static_cast<int>(call(SYS_mkdirat, AT_FDCWD, path, mode));
    }
    int chmod(const char* path, mode_t mode) {
        return static_cast<int>(call(SYS_fchmodat, AT_FDCWD, path, mode));
    }
    int chdir(const char* path) { return static_cast<int>(call(SYS_chdir, path)); }
    int dup3(int from, int to, int flags) { return static_cast<int>(call(SYS_dup3, from, to, flags)); }
    int fcntl(int file, int command, int argument) {
        return static_cast<int>(call(SYS_fcntl, file, command, argument));
    }
    int fstat(int file, struct stat& found) { return static_cast<int>(call(SYS_fstat, file, &found)); }
    ssize_t read(int file, void* into, std::size_t bytes) { return call(SYS_read, file, into, bytes); }
    ssize_t write(int file, const void* from, std::size_t bytes) {
        return call(SYS_write, file, from, bytes);
    }
    int mount(const char* what, const char* where, const char* kind, unsigned long flags,
              const char* options) {
        return static_cast<int>(call(SYS_mount, what, where, kind, flags, options));
    }
    int prctl(int option, long value) { return static_cast<int>(call(SYS_prctl, option, value, 0, 0, 0)); }
    int kill(pid_t pid, int number) { return static_cast<int>(call(SYS_kill, pid, number)); }

 private:
    template <class Value>
    static long word(Value value) {
        if constexpr (std::is_pointer_v<Value>) {
            return reinterpret_cast<long>(value);
        } else if constexpr (std::is_null_pointer_v<Value>) {
            return 0;
        } else {
            return static_cast<long>(value);
        }
    }
};

}  // namespace lavant::sandbox_linux

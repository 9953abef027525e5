#pragma once
// A folder of its own for each test, gone afterwards.

#include <string>

namespace lavant::test {

class TemporaryFolder {
 public:
    enum class On {
        Disk,
        Memory
    };  // Memory where there is such a file system: for tests that wait for no disk
    explicit TemporaryFolder(On where = On::Disk);
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
    std::string path_;
};

}  // namespace lavant::test

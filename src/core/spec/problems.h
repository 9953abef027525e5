#pragma once
// Collects everything wrong with a document, so that its author hears of all of it at once.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::spec {

class Problems {
 public:
    void add(std::string path, Position at, std::string message);
    // Somebody wrote the key, with a slip of the pen: that is problem enough.
    void forget_missing(const std::string& path);
    bool empty() const { return found_.empty(); }
    const std::vector<FieldProblem>& found() const { return found_; }
    // Put before every message until changed: which other file the positions belong to.
    void set_file(std::string file) { file_ = std::move(file); }
    const std::string& file() const { return file_; }

    // What to return upward: one sentence that stands alone, and all problems behind it, as they stand in the
    // file.
    Error to_error(std::string_view subject) const;

 private:
    std::vector<FieldProblem> found_;
    std::string file_;
};

// "; did you mean 'compute'?", or the whole list when nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);
std::string listed(const std::vector<std::string>& words);  // a, b or c

}  // namespace lavant::spec

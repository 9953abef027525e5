#pragma once
// Reads the fields of one map. Asking for a key makes it known; finish() reports every key nobody asked for,
// with the nearest known one. A wrong type is reported and reads as absent.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/document.h"
#include "core/spec/problems.h"

namespace lavant::spec {

class Fields {
 public:
    // `map` and `problems` must outlive this. A document that is not a map is reported and reads as empty.
    Fields(const Document& map, std::string path, Problems& problems);

    bool has(std::string_view key);
    const Document* find(std::string_view key);  // null values are reported and absent
    const Document* find_nullable(std::string_view key);
    std::string string(std::string_view key);  // strings only; "" if absent
    std::string text(std::string_view key);    // any scalar, printed: versions are often numbers
    std::optional<std::int64_t> integer(std::string_view key);  // "2" and 2.0 count
    std::optional<bool> boolean(std::string_view key);
    // One of `allowed`, compared without regard to case and to '_' or '-'; "" if absent.
    std::string choice(std::string_view key, const std::vector<std::string>& allowed);
    std::vector<std::string> strings(std::string_view key);
    std::map<std::string, std::string> string_map(std::string_view key);
    void ignore(std::initializer_list<std::string_view> keys);  // known, but of no consequence
    void finish();

    std::string path_of(std::string_view key) const;
    Position position_of(std::string_view key) const;         // of the value, else of the map
    void problem(std::string_view key, std::string message);  // at the key's value
    Problems& problems() const { return problems_; }
    const Document& map() const { return map_; }

 private:
    void wrong_type(std::string_view key, const Document& value, std::string_view wanted);
    const Document& map_;
    std::string path_;
    Problems& problems_;
    std::vector<std::string> known_;
};

// "UserIdentity", "user-identity" and "user_identity" alike.
std::string folded(std::string_view word);
// The entry of `allowed` that `word` spells, or nullopt.
std::optional<std::string> match_choice(std::string_view word, const std::vector<std::string>& allowed);

}  // namespace lavant::spec

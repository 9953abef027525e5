#pragma once
// What Azure's own tools make of a file that is fine here.

#include <string>
#include <string_view>

namespace lavant::spec {

struct Finding {
    bool refused = false;  // else it is ignored there, or means something else
    std::string text;      // one sentence, with its place
    bool operator==(const Finding&) const = default;
};

inline Finding refused_there(std::string_view place, std::string_view why) {
    return {true, std::string(place) + ": refused; " + std::string(why)};
}
inline Finding ignored_there(std::string_view place, std::string_view why) {
    return {false, std::string(place) + ": ignored; " + std::string(why)};
}

}  // namespace lavant::spec

#include "ports/http.h"

#include "base/text.h"

namespace lavant::ports {

std::string_view HttpRequest::header(std::string_view name) const {
    for (const Header& candidate : headers)
        if (equals_ignoring_case(candidate.first, name)) return candidate.second;
    return {};
}

std::optional<std::string> HttpRequest::query_value(std::string_view name) const {
    for (const std::string_view pair : split(query, '&')) {
        const std::size_t equals = pair.find('=');
        if (percent_decode(pair.substr(0, equals)) != name) continue;
        if (equals == std::string_view::npos) return std::string{};
        return percent_decode(pair.substr(equals + 1));
    }
    return std::nullopt;
}

}  // namespace lavant::ports

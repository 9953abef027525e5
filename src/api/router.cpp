#include "api/router.h"

#include <map>

#include "base/check.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::size_t kSegmentsMax = 32;  // of fixed patterns; the rest parameter takes any number

}  // namespace

struct Router::Segment {
    std::vector<std::pair<std::string, std::unique_ptr<Segment>>> literals;
    std::unique_ptr<Segment> parameter;
    std::unique_ptr<Segment> rest;
    std::string name;  // of this parameter
    std::vector<std::pair<std::string, Route>> methods;

    const Segment* walk(std::string_view path, std::size_t depth, Params& params) const;
};

const std::string& Params::get(std::string_view name) const {
    static const std::string kEmpty;
    for (const auto& [key, value] : values_)
        if (key == name) return value;
    return kEmpty;
}

// `path` starts with '/' or is empty. Of several ways, the most literal one that ends in a method is taken.
const Router::Segment* Router::Segment::walk(std::string_view path, std::size_t depth, Params& params) const {
    if (path.empty() || path == "/") {
        if (!methods.empty()) return this;
        return nullptr;
    }
    if (depth > kSegmentsMax) return nullptr;
    const std::size_t end = path.find('/', 1);
    const std::string_view segment = path.substr(1, end == std::string_view::npos ? end : end - 1);
    const std::string_view after = end == std::string_view::npos ? std::string_view{} : path.substr(end);
    for (const auto& [literal, next] : literals)
        if (equals_ignoring_case(literal, segment))
            if (const Segment* found = next->walk(after, depth + 1, params)) return found;
    if (parameter && !segment.empty()) {
        params.add(parameter->name, percent_decode(segment));
        if (const Segment* found = parameter->walk(after, depth + 1, params)) return found;
        params.drop_last();
    }
    if (rest && path.size() > 1) {
        params.add(rest->name, percent_decode(path.substr(1)));
        return rest.get();
    }
    return nullptr;
}

Router::Router() : root_(std::make_unique<Segment>()) {}
Router::~Router() = default;

void Router::add(std::string_view methods, std::string_view pattern, Route route) {
    CHECK(pattern.starts_with('/'), "a route's pattern starts with a slash");
    Segment* at = root_.get();
    for (const std::string_view part : split(pattern.substr(1), '/')) {
        std::unique_ptr<Segment>* slot = nullptr;
        std::string name;
        if (part.starts_with('{')) {
            const bool takes_rest = part.ends_with("*}");
            name = part.substr(1, part.size() - (takes_rest ? 3 : 2));
            slot = takes_rest ? &at->rest : &at->parameter;
        } else {
            for (auto& [literal, next] : at->literals)
                if (equals_ignoring_case(literal, part)) slot = &next;
            if (slot == nullptr) slot = &at->literals.emplace_back(std::string(part), nullptr).second;
        }
        if (!*slot) {
            *slot = std::make_unique<Segment>();
            (*slot)->name = name;
        }
        CHECK((*slot)->name == name, "two patterns name the same path segment differently");
        at = slot->get();
    }
    for (const std::string_view method : split(methods, ',')) {
        for (const auto& known : at->methods) CHECK(known.first != method, "this route is there already");
        at->methods.emplace_back(std::string(method), route);
        rows_.push_back({std::string(method), std::string(pattern), route.need});
    }
}

Match Router::match(std::string_view method, std::string_view path) const {
    Match match;
    if (!path.starts_with('/')) return match;
    const Segment* found = root_->walk(path, 0, match.params);
    if (found == nullptr) return match;
    for (const auto& [known, route] : found->methods) {
        if (known == method) {
            match.route = &route;
            return match;
        }
        match.allowed += (match.allowed.empty() ? "" : ", ") + known;
    }
    return match;
}

}  // namespace lavant::api

#pragma once
// From method and path to a handler. Patterns: "/a/{b}/c" with one segment per parameter, and "{rest*}" at
// the end for the remainder. Literal segments match whatever their case (ARM clients spell resourceGroups
// both ways) and win over parameters. Parameters are percent-decoded once.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/http.h"

namespace lavant::api {

struct Call;

class Params {
 public:
    void add(std::string_view name, std::string value) { values_.emplace_back(name, std::move(value)); }
    void drop_last() { values_.pop_back(); }
    const std::string& get(std::string_view name) const;  // "" if the pattern has no such parameter

 private:
    std::vector<std::pair<std::string_view, std::string>> values_;
};

// Who may call a route. A role counts where the route's workspace (or the resource in its path) is; those of
// the server are asked for by their name. SignedIn: any user, whatever their roles; not a job. Storage checks
// its own signatures.
enum class Need { Nothing, SignedIn, Reader, Contributor, Owner, ServerReader, ServerOwner, Storage };

struct Route {
    Need need = Need::Reader;
    std::function<void(std::shared_ptr<Call>)> handle;
    bool any_workspace = false;  // the one it names need not be there
};

// What is there, for those who must know every route: the access table and the description in protocol/.
struct RouteRow {
    std::string method;
    std::string pattern;
    Need need;
};

struct Match {
    const Route* route = nullptr;  // nullptr: no such path, or not by this method
    Params params;
    std::string allowed;  // methods of a path that exists, when `route` is null
};

class Router {
 public:
    Router();
    ~Router();
    Router(const Router&) = delete;
    Router& operator=(const Router&) = delete;

    // `methods`: "GET" or "GET,HEAD". A pattern given twice for a method is a broken invariant.
    void add(std::string_view methods, std::string_view pattern, Route route);
    Match match(std::string_view method, std::string_view path) const;
    // One row per method and pattern, in the order they were added.
    const std::vector<RouteRow>& routes() const { return rows_; }

 private:
    struct Segment;
    std::unique_ptr<Segment> root_;
    std::vector<RouteRow> rows_;
};

}  // namespace lavant::api

#include "cli/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/console.h"
#include "cli/storage_list.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::string_view kApiVersion = "2025-01-01-preview";
constexpr std::size_t kMessageCharsMax = 2'000;

ErrorCode code_of(int status) {
    switch (status) {
        case 400:
        case 422:
            return ErrorCode::InvalidArgument;
        case 401:
            return ErrorCode::Unauthenticated;
        case 403:
            return ErrorCode::PermissionDenied;
        case 404:
            return ErrorCode::NotFound;
        case 409:
            return ErrorCode::Conflict;
        case 429:
        case 507:
            return ErrorCode::ResourceExhausted;
        case 503:
            return ErrorCode::Unavailable;
        default:
            return ErrorCode::Internal;
    }
}

// A query may carry a signature; it is nobody's business on a screen or in a CI log.
Error without_query(Error error, const std::string& url) {
    const std::size_t query = url.find('?');
    const std::size_t said = error.message.find(url.substr(0, query));
    if (query == std::string::npos || said == std::string::npos) return error;
    const std::size_t from = said + query;
    error.message.erase(from,
                        std::min(error.message.find_first_of(": \n", from), error.message.size()) - from);
    return error;
}

std::string with_api_version(const std::string& path) {
    if (!path.starts_with("/subscriptions/")) return path;
    return fmt::format("{}{}api-version={}", path, path.find('?') == std::string::npos ? '?' : '&',
                       kApiVersion);
}

// What of a compute has quite another name in a compute file.
constexpr std::pair<std::string_view, std::string_view> kComputeWords[] = {
    {"computeType", "type"},
    {"properties.vmSize", "size"},
    {"properties.vmPriority", "tier"},
    {"properties.scaleSettings.minNodeCount", "min_instances"},
    {"properties.scaleSettings.maxNodeCount", "max_instances"},
    {"properties.scaleSettings.nodeIdleTimeBeforeScaleDown", "idle_time_before_scale_down"},
    {"properties.subnet.id", "network_settings.subnet"},
    {"properties.remoteLoginPortPublicAccess", "ssh_public_access_enabled"},
    {"properties.userAccountCredentials.adminUserName", "ssh_settings.admin_username"},
    {"properties.userAccountCredentials.adminUserSshPublicKey", "ssh_settings.ssh_key_value"},
    {"properties.enableNodePublicIp", "enable_node_public_ip"},
    {"properties.nodeSharing", "node_sharing"},
};

// "properties.environmentId" is `environment` in a job file.
std::string in_file_words(std::string_view target) {
    if (target.starts_with("properties.")) target.remove_prefix(11);
    for (const auto& [arm, word] : kComputeWords)
        if (target == arm) return std::string(word);
    for (const std::string_view id : {"environmentId", "codeId", "computeId", "componentId"})
        if (target == id) return std::string(id.substr(0, id.size() - 2));
    return part_words(target, '_');
}

// What of the server's paths has names below it, and what one of them is called.
constexpr std::pair<std::string_view, std::string_view> kCollections[] = {
    {"codes", "code"},
    {"components", "component"},
    {"computes", "compute"},
    {"data", "data"},
    {"datastores", "datastore"},
    {"environments", "environment"},
    {"groups", "group"},
    {"jobs", "job"},
    {"keys", "key"},
    {"models", "model"},
    {"schedules", "schedule"},
    {"service-principals", "service principal"},
    {"sizes", "size"},
    {"users", "user"},
};

// "show compute 'gpu'" of GET …/computes/gpu, for requests that nobody described.
std::string in_words(std::string_view method, std::string_view path) {
    path = path.substr(0, path.find('?'));
    const std::string_view verb = method == "GET"      ? "show"
                                  : method == "PUT"    ? "create"
                                  : method == "PATCH"  ? "change"
                                  : method == "DELETE" ? "delete"
                                                       : "create";
    const auto parts = split(path, '/');
    for (std::size_t i = parts.size(); i-- > 0;) {
        for (const auto& [plural, one] : kCollections) {
            if (parts[i] != plural) continue;
            if (i + 1 == parts.size())
                return method == "GET" ? fmt::format("list the {}", part_words(plural, ' '))
                                       : fmt::format("{} a {}", verb, one);
            std::string name = percent_decode(parts[i + 1]);
            if (i + 2 == parts.size()) return fmt::format("{} {} '{}'", verb, one, name);
            if (parts[i + 2] == "versions" && i + 3 < parts.size())
                return fmt::format("{} {} '{}:{}'", verb, one, name, percent_decode(parts[i + 3]));
            return fmt::format("{} {} '{}'", part_words(parts[i + 2], ' '), one, name);
        }
    }
    return fmt::format("{} '{}'", method == "GET" ? "read" : verb, percent_decode(parts.back()));
}

}  // namespace

std::string next_page(const Json& page) {
    const std::string link = page["nextLink"].string();
    const std::size_t scheme = link.find("://");
    if (scheme == std::string::npos) return link;
    const std::size_t path = link.find('/', scheme + 3);
    return path == std::string::npos ? "/" : link.substr(path);
}

Session::Session(std::unique_ptr<ports::HttpClient> client, ServerAddress address)
    : client_(std::move(client)), address_(std::move(address)) {}

std::string Session::workspace_path(std::string_view rest) const {
    const WorkspaceName& name = address_.workspace;
    return fmt::format(
        "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.MachineLearningServices/workspaces/{}{}",
        percent_encode(name.subscription), percent_encode(name.resource_group), percent_encode(name.name),
        rest);
}

std::string Session::compute_path(std::string_view name) const {
    return workspace_path("/computes/" + percent_encode(name));
}

std::string Session::job_path(std::string_view name) const {
    return workspace_path("/jobs/" + percent_encode(name));
}

Outcome<ports::HttpResponse> Session::send(ports::ClientRequest request) {
    const bool own = request.url.starts_with("/");
    if (own) {
        request.url = address_.url + with_api_version(request.url);
        request.headers.emplace_back("Authorization", "Bearer " + address_.token);
        if (request.url.find("/lavant/v1/") != std::string::npos) {
            const WorkspaceName& name = address_.workspace;
            request.headers.emplace_back(
                "Lavant-Workspace",
                fmt::format("{}/{}/{}", percent_encode(name.subscription),
                            percent_encode(name.resource_group), percent_encode(name.name)));
        }
    }
    auto answer = client_->send(request);
    if (!answer) {
        Error error = without_query(std::move(answer).error(), request.url);
        if (error.code == ErrorCode::ResourceExhausted)
            return tl::make_unexpected(Failure(Exit::Refused, std::move(error)));
        const bool explained = own && explain_ && error.code == ErrorCode::Unavailable;
        return tl::make_unexpected(explained ? explain_(error) : Failure(std::move(error)));
    }
    return std::move(*answer);
}

Failure Session::refusal(const ports::HttpResponse& response, std::string_view attempted) {
    Error error{code_of(response.status), {}, {}};
    std::string message;
    if (const auto body = wire::parse_json(response.body)) {
        const Json& said = (*body)["error"];
        message = said["message"].string();
        for (const Json& detail : said["details"].items()) {
            const std::string target = detail["target"].string();
            const std::string word = in_file_words(target);
            const std::size_t named = target.empty() ? std::string::npos : message.find(target + ": ");
            if (named != std::string::npos) message.replace(named, target.size(), word);
            error.fields.push_back({printable(word), printable(detail["message"].text())});
        }
    }
    if (message.empty()) message = storage_message(response.body);
    if (message.empty()) message = fmt::format("the server answered {}", response.status);
    if (response.status == 401)
        message += "; give a valid key: lavant login URL, LAVANT_TOKEN, or eval \"$(lavant env)\"";
    if (!error.fields.empty()) message = message.substr(0, message.find('\n'));  // The rest lists the fields.
    message = printable(message.substr(0, kMessageCharsMax));
    error.message =
        message.starts_with("cannot ") ? message : fmt::format("cannot {}: {}", attempted, message);
    return Failure(Exit::Refused, std::move(error));
}

Outcome<Json> Session::exchange(std::string method, const std::string& path, const Json* body,
                                std::vector<ports::Header> headers, std::string_view attempted) {
    ports::ClientRequest request;
    request.method = method;
    request.url = path;
    request.timeout_s = address_.timeout_s;
    request.headers = std::move(headers);
    if (body != nullptr) {
        request.headers.emplace_back("Content-Type", "application/json");
        request.body = body->dump();
    }
    LAVANT_TRY(const ports::HttpResponse answer, send(std::move(request)));
    if (answer.status < 200 || answer.status > 299) {
        if (!attempted.empty()) return tl::make_unexpected(refusal(answer, attempted));
        return tl::make_unexpected(refusal(answer, in_words(method, path)));
    }
    if (answer.body.empty()) return Json();
    auto parsed = wire::parse_json(answer.body);
    if (!parsed || !parsed->is_object()) {
        return stop(Exit::Refused, ErrorCode::Internal,
                    fmt::format("cannot read the answer of {}: {}; is it a Lavant server?", address_.url,
                                parsed ? "it is no JSON object" : parsed.error().message));
    }
    return std::move(*parsed);
}

Outcome<Json> Session::get(const std::string& path) { return exchange("GET", path, nullptr); }
Outcome<Json> Session::put(const std::string& path, const Json& body) { return exchange("PUT", path, &body); }
Outcome<Json> Session::create(const std::string& path, const Json& body) {
    return exchange("PUT", path, &body, {{"If-None-Match", "*"}});
}
Outcome<Json> Session::replace(const std::string& path, const Json& body) {
    return exchange("PUT", path, &body, {{"If-Match", "*"}});
}
Outcome<Json> Session::patch(const std::string& path, const Json& body) {
    return exchange("PATCH", path, &body);
}
Outcome<Json> Session::post(const std::string& path, const Json& body) {
    return exchange("POST", path, &body);
}
Outcome<Json> Session::attempt(const std::string& what, std::string method, const std::string& path,
                               const Json& body) {
    return exchange(std::move(method), path, body.is_null() ? nullptr : &body, {}, what);
}
Outcome<void> Session::remove(const std::string& path) {
    LAVANT_TRY([[maybe_unused]] const Json answer, exchange("DELETE", path, nullptr));
    return {};
}

}  // namespace lavant::cli

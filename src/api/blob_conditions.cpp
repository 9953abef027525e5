#include "api/blob_conditions.h"

#include <algorithm>
#include <chrono>

#include "api/answers.h"
#include "base/text.h"
#include "base/time.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;

bool names_etag(std::string_view list, const std::string& etag) {
    const std::vector<std::string_view> tags = split(list, ',');
    return std::ranges::any_of(tags, [&](std::string_view tag) {
        tag = trim(tag);
        if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
        return tag == etag;
    });
}

HttpResponse not_met() {
    return storage_error(412, "ConditionNotMet",
                         "The condition specified using HTTP conditional header(s) is not met.");
}

HttpResponse not_modified(const ports::BlobInfo& blob) {
    HttpResponse response;
    response.status = 304;
    response.headers = {{"x-ms-error-code", "ConditionNotMet"},
                        {"ETag", "\"" + blob.etag + "\""},
                        {"Last-Modified", to_http_date(blob.modified_at)}};
    return response;
}

}  // namespace

bool has_condition(const ports::HttpRequest& request) {
    return std::ranges::any_of(request.headers, [](const ports::Header& header) {
        return header.first.size() > 3 && equals_ignoring_case(header.first.substr(0, 3), "if-");
    });
}

std::optional<HttpResponse> unmet_condition(const ports::HttpRequest& request, const ports::BlobInfo* there,
                                            bool is_write) {
    const std::string_view if_match = request.header("If-Match");
    const std::string_view if_none_match = request.header("If-None-Match");
    if (!if_match.empty() && (there == nullptr || (if_match != "*" && !names_etag(if_match, there->etag))))
        return not_met();
    const auto since = parse_http_date(request.header("If-Modified-Since"));
    const auto until = parse_http_date(request.header("If-Unmodified-Since"));
    if (there == nullptr) return std::nullopt;
    // What clients know of its time are whole seconds.
    const Instant modified = std::chrono::floor<std::chrono::seconds>(there->modified_at);
    if (until && modified > *until) return not_met();
    if (if_none_match == "*" && is_write)
        return storage_error(409, "BlobAlreadyExists", "The specified blob already exists.");
    if (!if_none_match.empty() && (if_none_match == "*" || names_etag(if_none_match, there->etag)))
        return is_write ? not_met() : not_modified(*there);
    if (since && modified <= *since) return is_write ? not_met() : not_modified(*there);
    return std::nullopt;
}

}  // namespace lavant::api

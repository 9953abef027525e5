#include "api/shared_key.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <vector>

#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::string_view kFull = "SharedKey ";
constexpr std::string_view kLite = "SharedKeyLite ";
constexpr Duration kDateSkew = std::chrono::minutes(15);

constexpr std::array<std::string_view, 11> kStandardHeaders = {
    "Content-Encoding",  "Content-Language", "Content-Length", "Content-MD5",         "Content-Type", "Date",
    "If-Modified-Since", "If-Match",         "If-None-Match",  "If-Unmodified-Since", "Range"};

tl::unexpected<StorageRefusal> refuse(std::string why) {
    return tl::make_unexpected(StorageRefusal{403, "AuthenticationFailed", std::move(why)});
}

using Less = bool (*)(std::string_view, std::string_view);
bool in_byte_order(std::string_view a, std::string_view b) { return a < b; }

std::string own_headers(const ports::HttpRequest& request, Less less) {
    std::vector<std::pair<std::string, std::string>> headers;
    for (const auto& [name, value] : request.headers) {
        std::string lower = to_lower(name);
        if (!lower.starts_with("x-ms-")) continue;
        const auto same = std::ranges::find(headers, lower, &std::pair<std::string, std::string>::first);
        if (same != headers.end())
            same->second += "," + std::string(trim(value));
        else
            headers.emplace_back(std::move(lower), trim(value));
    }
    std::ranges::stable_sort(headers, less, &std::pair<std::string, std::string>::first);
    std::string text;
    for (const auto& [name, value] : headers) text += name + ":" + value + "\n";
    return text;
}

// Values of one name are sorted and joined.
std::string query_lines(const ports::HttpRequest& request) {
    std::map<std::string, std::vector<std::string>> values;
    for (const std::string_view pair : split(request.query, '&')) {
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        values[to_lower(percent_decode(pair.substr(0, equals)))].push_back(percent_decode(value));
    }
    std::string text;
    for (auto& [name, all] : values) {
        std::ranges::sort(all);
        text += "\n" + name + ":";
        for (std::size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : ",") + all[i];
    }
    return text;
}

std::string text_to_sign(const ports::HttpRequest& request, const std::string& account, bool is_lite,
                         Less less) {
    std::string text = request.method + "\n";
    if (is_lite) {
        for (const std::string_view name : {"Content-MD5", "Content-Type", "Date"})
            (text += request.header(name)) += "\n";
    } else {
        for (const std::string_view name : kStandardHeaders) {
            const std::string_view value = request.header(name);
            if (!(name == "Content-Length" && value == "0")) text += value;
            text += "\n";
        }
    }
    text += own_headers(request, less) + "/" + account + request.path;
    if (!is_lite) return text + query_lines(request);
    const auto comp = request.query_value("comp");
    return comp ? text + "?comp=" + *comp : text;
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
    constexpr std::string_view kOrder = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
    const auto weights = [&](std::string_view text) {
        std::vector<std::size_t> all;
        for (const char c : text)
            if (const std::size_t at = kOrder.find(c); at != std::string_view::npos) all.push_back(at);
        return all;
    };
    const auto one = weights(a);
    const auto other = weights(b);
    return one != other ? one < other : a < b;
}

bool is_shared_key(std::string_view authorization) {
    return authorization.starts_with(kFull) || authorization.starts_with(kLite);
}

StorageResult<void> check_shared_key(ports::Crypto& crypto, const ports::HttpRequest& request,
                                     std::string_view key, Instant now) {
    std::string_view given = request.header("Authorization");
    const bool is_lite = given.starts_with(kLite);
    given.remove_prefix(is_lite ? kLite.size() : kFull.size());
    const std::size_t colon = given.rfind(':');
    if (colon == std::string_view::npos)
        return refuse("the Authorization header is not 'SharedKey name:signature'");
    const std::string account(given.substr(0, colon));
    const auto known = account_spellings(request);
    if (std::ranges::find(known, account) == known.end())
        return refuse("there is no storage account '" + account + "' here");
    std::string_view date = request.header("x-ms-date");
    if (date.empty()) date = request.header("Date");
    const auto at = parse_http_date(date);
    if (!at || *at > now + kDateSkew || *at < now - kDateSkew)
        return refuse("the request's date is missing or more than 15 minutes off: '" + std::string(date) +
                      "'");
    for (const Less less : {comes_before, in_byte_order}) {
        const std::string expected =
            base64_encode(crypto.hmac_sha256(key, text_to_sign(request, account, is_lite, less)));
        if (crypto.equal_in_constant_time(expected, given.substr(colon + 1))) return {};
    }
    return refuse("the signature does not fit the request; check the account's key");
}

}  // namespace lavant::api

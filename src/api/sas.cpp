#include "api/sas.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "api/network_range.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::string_view kVersion = "2021-12-02";
constexpr std::string_view kVersionMin = "2020-12-06";  // older ones sign another string

// Query parameters that a signature covers, in the order in which they are signed; the resource comes fourth.
constexpr std::array<std::string_view, 3> kBeforeResource = {"sp", "st", "se"};
constexpr std::array<std::string_view, 12> kAfterResource = {
    "si", "sip", "spr", "sv", "sr", "snapshot", "ses", "rscc", "rscd", "rsce", "rscl", "rsct"};
constexpr std::array<std::string_view, 9> kOfAccount = {"sp",  "ss",  "srt", "st", "se",
                                                        "sip", "spr", "sv",  "ses"};
constexpr std::array<std::pair<std::string_view, const char*>, 5> kOverrides = {
    {{"rscc", "Cache-Control"},
     {"rscd", "Content-Disposition"},
     {"rsce", "Content-Encoding"},
     {"rscl", "Content-Language"},
     {"rsct", "Content-Type"}}};

using Fields = std::map<std::string, std::string, std::less<>>;

std::string_view field(const Fields& fields, std::string_view name) {
    const auto at = fields.find(name);
    return at == fields.end() ? std::string_view{} : std::string_view(at->second);
}

std::string service_text(const Fields& fields, std::string_view resource) {
    std::string text;
    for (const std::string_view name : kBeforeResource) (text += field(fields, name)) += '\n';
    text += resource;
    for (const std::string_view name : kAfterResource) (text += '\n') += field(fields, name);
    return text;
}

std::string account_text(const Fields& fields, const std::string& account) {
    std::string text = account + "\n";
    for (const std::string_view name : kOfAccount) (text += field(fields, name)) += '\n';
    return text;
}

std::string to_sas_time(Instant at) { return to_rfc3339(at).substr(0, 19) + "Z"; }

tl::unexpected<StorageRefusal> refuse(std::string why, std::string_view code = "AuthenticationFailed") {
    return tl::make_unexpected(StorageRefusal{403, code, std::move(why)});
}

// "2026-01-02", "2026-01-02T03:04Z" and the whole form.
std::optional<Instant> parse_sas_time(std::string_view text) {
    if (text.size() == 10) return parse_rfc3339(std::string(text) + "T00:00:00Z");
    if (text.size() == 17 && text.ends_with('Z'))
        return parse_rfc3339(std::string(text.substr(0, 16)) + ":00Z");
    return parse_rfc3339(text);
}

StorageResult<void> check_times(const Fields& fields, Instant now) {
    const auto expiry = parse_sas_time(field(fields, "se"));
    if (!expiry) return refuse("the signature has no valid expiry time (se)");
    if (now > *expiry + kClockSkew)
        return refuse("the signature expired at " + std::string(field(fields, "se")) + "; ask for a new one");
    if (const std::string_view start = field(fields, "st"); !start.empty()) {
        const auto from = parse_sas_time(start);
        if (!from || now + kClockSkew < *from)
            return refuse("the signature is not valid before " + std::string(start));
    }
    return {};
}

StorageResult<void> check_place(const Fields& fields, const ports::HttpRequest& request) {
    const std::string_view range = field(fields, "sip");
    if (!range.empty() && !lies_in_range(request.peer, range))
        return refuse("the signature is for requests from " + std::string(range) + " alone",
                      "AuthorizationSourceIPMismatch");
    const std::string_view protocol = field(fields, "spr");
    if (!protocol.empty() && protocol != "https" && protocol != "https,http")
        return refuse("the signature has no valid protocol (spr)", "AuthorizationProtocolMismatch");
    return {};
}

StorageResult<void> check_account(const Fields& fields, const SasAsk& ask) {
    if (field(fields, "ss").find('b') == std::string_view::npos)
        return refuse("the signature is not for blobs (ss)", "AuthorizationServiceMismatch");
    const char type = ask.container.empty() ? 's' : (ask.blob.empty() ? 'c' : 'o');
    if (field(fields, "srt").find(type) == std::string_view::npos)
        return refuse("the signature is not for this type of resource (srt)",
                      "AuthorizationResourceTypeMismatch");
    return {};
}

// The part of the path that the signature is about, from the container on.
StorageResult<std::string> signed_path(const Fields& fields, const SasAsk& ask) {
    const std::string_view kind = field(fields, "sr");
    if (kind == "c") return ask.container;
    if (kind == "b") {
        if (ask.blob.empty()) return refuse("the signature is for one blob, not for its container");
        return ask.container + "/" + ask.blob;
    }
    if (kind != "d") return refuse("the signature is not for a container, a folder or a blob (sr)");
    const auto depth = parse_integer(field(fields, "sdd"));
    const std::string& path = ask.blob.empty() ? ask.prefix : ask.blob;
    std::size_t end = 0;
    if (!depth || *depth < 1) return refuse("the signature has no valid depth of its folder (sdd)");
    for (std::int64_t i = 0; i < *depth; ++i) {
        end = path.find('/', i == 0 ? 0 : end + 1);
        // A listing by the folder's name alone would show those whose names begin alike.
        const bool lists = ask.blob.empty();
        if (end == std::string::npos && (i + 1 < *depth || lists))
            return refuse("the signature is for a folder, and this is not in it");
    }
    return ask.container + "/" + path.substr(0, end);
}

}  // namespace

std::string Sas::make(const SasOffer& offer) const {
    const std::string expiry = to_sas_time(offer.expires_at);
    const std::string kind = offer.blob.empty() ? "c" : "b";
    std::string resource = "/blob/" + account_ + "/" + offer.container;
    if (!offer.blob.empty()) resource += "/" + offer.blob;
    const Fields fields{{"sp", offer.permissions},
                        {"se", expiry},
                        {"spr", "https"},
                        {"sv", std::string(kVersion)},
                        {"sr", kind}};
    const std::string signature =
        base64_encode(crypto_.hmac_sha256(key_of_(offer.container), service_text(fields, resource)));
    return "sv=" + std::string(kVersion) + "&se=" + percent_encode(expiry) + "&sr=" + kind +
           "&sp=" + offer.permissions + "&spr=https&sig=" + percent_encode(signature);
}

bool Sas::is_signed(const ports::HttpRequest& request, const SasAsk& ask,
                    const std::function<std::string(const std::string& account)>& text,
                    std::string_view signature) const {
    const std::string key = key_of_(ask.container);
    return std::ranges::any_of(account_spellings(request), [&](const std::string& account) {
        return crypto_.equal_in_constant_time(base64_encode(crypto_.hmac_sha256(key, text(account))),
                                              signature);
    });
}

StorageResult<SasGrant> Sas::check(const ports::HttpRequest& request, const SasAsk& ask, Instant now) const {
    Fields fields;
    for (const std::string_view pair : split(request.query, '&')) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos) continue;
        const bool is_new =
            fields.emplace(percent_decode(pair.substr(0, equals)), percent_decode(pair.substr(equals + 1)))
                .second;
        if (!is_new) return refuse("a query parameter of a signed request is given twice");
    }
    const std::string_view version = field(fields, "sv");
    if (version < kVersionMin || version.size() != kVersionMin.size())
        return refuse("signatures of version '" + std::string(version) + "' are not accepted");
    if (!field(fields, "si").empty() || !field(fields, "skoid").empty())
        return refuse("stored access policies and user delegation keys are not supported in signatures");
    const bool is_account = fields.contains("ss") || fields.contains("srt");
    StorageResult<std::string> path = is_account ? StorageResult<std::string>("") : signed_path(fields, ask);
    if (!path) return tl::make_unexpected(std::move(path).error());
    const auto text = [&](const std::string& account) {
        return is_account ? account_text(fields, account)
                          : service_text(fields, "/blob/" + account + "/" + *path);
    };
    if (!is_signed(request, ask, text, field(fields, "sig")))
        return refuse("the signature does not fit the request; ask for a new one");
    LAVANT_TRY_VOID(check_times(fields, now));
    LAVANT_TRY_VOID(check_place(fields, request));
    if (is_account) LAVANT_TRY_VOID(check_account(fields, ask));
    SasGrant grant;
    grant.permissions = field(fields, "sp");
    if (grant.permissions.find_first_of(ask.any_of) == std::string::npos)
        return refuse("the signature does not permit this (it permits '" + grant.permissions + "')",
                      "AuthorizationPermissionMismatch");
    for (const auto& [name, header] : kOverrides)
        if (const std::string_view value = field(fields, name); !value.empty())
            grant.response_headers.emplace_back(header, value);
    return grant;
}

}  // namespace lavant::api

#include "api/sas.h"

#include <array>
#include <chrono>
#include <map>

#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::string_view kVersion = "2021-12-02";
constexpr std::string_view kVersionMin = "2020-12-06";  // older ones sign another string

// Query parameters that a signature covers, in the order in which they are signed; the resource comes fourth.
constexpr std::array<std::string_view, 3> kBeforeResource = {"sp", "st", "se"};
constexpr std::array<std::string_view, 12> kAfterResource = {
    "si", "sip", "spr", "sv", "sr", "snapshot", "ses", "rscc", "rscd", "rsce", "rscl", "rsct"};

using Fields = std::map<std::string, std::string, std::less<>>;

std::string_view field(const Fields& fields, std::string_view name) {
    const auto at = fields.find(name);
    return at == fields.end() ? std::string_view{} : std::string_view(at->second);
}

std::string string_to_sign(const Fields& fields, std::string_view resource) {
    std::string text;
    for (const std::string_view name : kBeforeResource) (text += field(fields, name)) += '\n';
    text += resource;
    for (const std::string_view name : kAfterResource) (text += '\n') += field(fields, name);
    return text;
}

std::string to_sas_time(Instant at) { return to_rfc3339(at).substr(0, 19) + "Z"; }

tl::unexpected<Error> refuse(std::string why) { return fail(ErrorCode::PermissionDenied, std::move(why)); }

Result<void> check_times(const Fields& fields, Instant now) {
    const auto expiry = parse_rfc3339(field(fields, "se"));
    if (!expiry) return refuse("the signature has no valid expiry time (se)");
    if (now > *expiry + kClockSkew)
        return refuse("the signature expired at " + std::string(field(fields, "se")) + "; ask for a new one");
    if (const std::string_view start = field(fields, "st"); !start.empty()) {
        const auto from = parse_rfc3339(start);
        if (!from || now + kClockSkew < *from)
            return refuse("the signature is not valid before " + std::string(start));
    }
    return {};
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
    const std::string signature = base64_encode(crypto_.hmac_sha256(key_, string_to_sign(fields, resource)));
    return "sv=" + std::string(kVersion) + "&se=" + percent_encode(expiry) + "&sr=" + kind +
           "&sp=" + offer.permissions + "&spr=https&sig=" + percent_encode(signature);
}

Result<void> Sas::check(const ports::HttpRequest& request, const SasAsk& ask, Instant now) const {
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
    const std::string_view kind = field(fields, "sr");
    std::string resource = "/blob/" + account_ + "/" + ask.container;
    if (kind == "b") {
        if (ask.blob.empty()) return refuse("the signature is for one blob, not for its container");
        resource += "/" + ask.blob;
    } else if (kind != "c") {
        return refuse("the signature is not for a container or a blob (sr)");
    }
    if (!field(fields, "si").empty() || !field(fields, "sip").empty())
        return refuse("stored access policies and address ranges are not supported in signatures");
    const std::string expected = base64_encode(crypto_.hmac_sha256(key_, string_to_sign(fields, resource)));
    if (!crypto_.equal_in_constant_time(expected, field(fields, "sig")))
        return refuse("the signature does not fit the request; ask for a new one");
    LAVANT_TRY_VOID(check_times(fields, now));
    if (field(fields, "sp").find_first_of(ask.any_of) == std::string_view::npos)
        return refuse("the signature does not permit this (it permits '" + std::string(field(fields, "sp")) +
                      "')");
    return {};
}

}  // namespace lavant::api

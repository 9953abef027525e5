#include "api/access.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "api/sas.h"
#include "base/text.h"
#include "core/model/workspace.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

constexpr std::string_view kKeyPrefix = "lvk_";
constexpr std::size_t kKeyChars = 43;
constexpr std::size_t kCredentialCharsMax = 8192;
constexpr std::size_t kRememberedMax = 4096;
constexpr Duration kRememberKeyFor = 60s;
constexpr Duration kRememberJobFor = 5s;
constexpr Duration kJobTokenLife = std::chrono::hours(24 * 30);

// {"alg":"HS256","typ":"JWT"}: the only header we write, and the only one we accept.
constexpr std::string_view kTokenHeader = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

// There are no tenants here, but azure-ai-ml looks for one and complains about a token without it.
constexpr std::string_view kTenant = "00000000-0000-0000-0000-000000000000";

tl::unexpected<Error> unknown() {
    return fail(
        ErrorCode::Unauthenticated,
        "the credential is not known, was revoked or has expired; get a key with `lavant key create` and "
        "send it as `Authorization: Bearer`");
}

std::int64_t to_seconds(Instant at) { return to_micros(at) / 1'000'000; }
Instant from_seconds(std::int64_t seconds) {
    constexpr std::int64_t kFar = 253'402'300'799;  // the last second of the year 9999
    return from_micros(std::clamp<std::int64_t>(seconds, 0, kFar) * 1'000'000);
}

}  // namespace

std::string_view name_of(Role role) {
    switch (role) {
        case Role::Job:
            return "job";
        case Role::Reader:
            return "reader";
        case Role::Contributor:
            return "contributor";
        case Role::Owner:
            return "owner";
    }
    return "reader";
}

Result<Role> parse_role(std::string_view name) {
    for (const Role role : {Role::Reader, Role::Contributor, Role::Owner})
        if (name_of(role) == name) return role;
    return fail(ErrorCode::InvalidArgument,
                "unknown role '" + std::string(name) + "'; it is one of owner, contributor, reader");
}

bool looks_like_key(std::string_view text) {
    return text.starts_with(kKeyPrefix) && text.size() == kKeyPrefix.size() + kKeyChars;
}

AssetWrite key_row(ports::Crypto& crypto, std::string_view plain, const std::string& name,
                   const Caller& owner) {
    AssetWrite write;
    write.asset.key = {"", kKeyKind, name, ""};
    write.asset.hash = to_hex(crypto.sha256(plain));
    write.asset.body = Json::object({{"user", owner.user}, {"role", name_of(owner.role)}}).dump();
    write.expected = 0;
    return write;
}

Access::Access(Ports ports, std::string_view secret)
    : ports_(ports), signing_key_(ports.crypto.hmac_sha256(secret, "lavant access tokens")) {}

Result<Caller> Access::check_authorization(std::string_view header) {
    constexpr std::string_view kScheme = "bearer ";
    if (header.size() <= kScheme.size() || !equals_ignoring_case(header.substr(0, kScheme.size()), kScheme))
        return fail(ErrorCode::Unauthenticated,
                    "this needs a credential; send `Authorization: Bearer <API key or token>`");
    return check_credential(trim(header.substr(kScheme.size())));
}

Result<Caller> Access::check_credential(std::string_view credential) {
    if (credential.empty() || credential.size() > kCredentialCharsMax) return unknown();
    const Instant now = ports_.clock.now();
    std::string digest = ports_.crypto.sha256(credential);
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto known = remembered_.find(digest);
        if (known != remembered_.end() && now < known->second.until) return known->second.caller;
        generation = generation_;
    }
    LAVANT_TRY(Remembered fresh, verify(credential));
    Caller caller = fresh.caller;
    const std::lock_guard lock(mutex_);
    if (generation == generation_) {  // else a key was revoked meanwhile, perhaps this one
        if (remembered_.size() >= kRememberedMax) remembered_.clear();
        remembered_.insert_or_assign(std::move(digest), std::move(fresh));
    }
    return caller;
}

Result<Access::Remembered> Access::verify(std::string_view credential) {
    return credential.starts_with(kKeyPrefix) ? verify_key(credential) : verify_token(credential);
}

Result<Access::Remembered> Access::verify_key(std::string_view key) {
    if (!looks_like_key(key)) return unknown();
    LAVANT_TRY(const auto row,
               ports_.reader.find_asset_by_hash("", kKeyKind, to_hex(ports_.crypto.sha256(key))));
    if (!row) return unknown();
    LAVANT_TRY(const Json body, wire::parse_json(row->body));
    LAVANT_TRY(const Role role, parse_role(body["role"].text()));
    return Remembered{{body["user"].string(), role, row->key.name, ""}, ports_.clock.now() + kRememberKeyFor};
}

Result<Access::Remembered> Access::verify_token(std::string_view token) {
    const std::size_t dot = token.rfind('.');
    if (dot == std::string_view::npos || !token.starts_with(kTokenHeader)) return unknown();
    const std::string_view signed_part = token.substr(0, dot);
    const std::string expected = base64url_encode(ports_.crypto.hmac_sha256(signing_key_, signed_part));
    if (!ports_.crypto.equal_in_constant_time(expected, token.substr(dot + 1))) return unknown();
    if (signed_part.size() <= kTokenHeader.size() || signed_part[kTokenHeader.size()] != '.')
        return unknown();
    const auto payload = base64url_decode(signed_part.substr(kTokenHeader.size() + 1));
    if (!payload) return unknown();
    LAVANT_TRY(const Json claims, wire::parse_json(*payload));
    const Instant now = ports_.clock.now();
    const Instant expiry = from_seconds(claims["exp"].integer());
    if (now > expiry + kClockSkew) return unknown();

    Remembered answer{{claims["sub"].string(), Role::Job, claims["key"].string(), claims["job"].string()},
                      {}};
    if (!answer.caller.job.empty()) {
        answer.caller.workspace = claims["ws"].string(kDefaultWorkspace);
        LAVANT_TRY(const auto job, ports_.reader.find_job(answer.caller.workspace, answer.caller.job));
        const bool current =
            job && job->head.attempt == claims["attempt"].integer() && !is_terminal(job->head.status);
        if (!current) return unknown();
        answer.until = now + kRememberJobFor;
        return answer;
    }
    LAVANT_TRY(const auto row, ports_.reader.find_asset({"", kKeyKind, answer.caller.key, ""}));
    if (!row || row->hash != claims["kid"].text()) return unknown();
    LAVANT_TRY(const Json body, wire::parse_json(row->body));
    LAVANT_TRY(answer.caller.role, parse_role(body["role"].text()));
    answer.until = std::min(now + kRememberKeyFor, expiry + kClockSkew);
    return answer;
}

std::string Access::sign(std::string_view payload) const {
    std::string token(kTokenHeader);
    (token += '.') += base64url_encode(payload);
    const std::string signature = base64url_encode(ports_.crypto.hmac_sha256(signing_key_, token));
    (token += '.') += signature;
    return token;
}

NewKey Access::make_key(const std::string& name, const std::string& user, Role role) const {
    NewKey made;
    made.plain = std::string(kKeyPrefix) + base64url_encode(ports_.crypto.random_bytes(32));
    made.write = key_row(ports_.crypto, made.plain, name, Caller{user, role, name, ""});
    return made;
}

std::string Access::make_token(const Caller& caller, std::string_view audience, Instant expires_at) const {
    std::string hash;
    if (const auto row = ports_.reader.find_asset({"", kKeyKind, caller.key, ""}); row && *row)
        hash = (*row)->hash;
    const Json claims = Json::object({{"aud", audience},
                                      {"iss", "lavant"},
                                      {"tid", kTenant},
                                      {"sub", caller.user},
                                      {"name", caller.user},
                                      {"role", name_of(caller.role)},
                                      {"key", caller.key},
                                      {"kid", hash},
                                      {"iat", to_seconds(ports_.clock.now())},
                                      {"exp", to_seconds(expires_at)}});
    return sign(claims.dump());
}

std::string Access::make_job_token(const JobHead& job, int attempt) const {
    std::string claims = R"({"iss":"lavant","sub":)" + json_quote("job/" + job.name) + R"(,"job":)" +
                         json_quote(job.name) + R"(,"ws":)" + json_quote(job.workspace) + R"(,"attempt":)" +
                         std::to_string(attempt) + R"(,"exp":)" +
                         std::to_string(to_seconds(ports_.clock.now() + kJobTokenLife)) + "}";
    return sign(claims);
}

void Access::forget_all() {
    const std::lock_guard lock(mutex_);
    remembered_.clear();
    ++generation_;
}

}  // namespace lavant::api

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
constexpr Duration kRememberBookFor = 60s;  // a change whose outcome stayed unknown is seen after this
constexpr int kParentsMax = 8;              // keys made from keys made from keys
constexpr Duration kJobTokenLife = std::chrono::hours(24 * 30);

// So much of a key's hash stands in its tokens: they die when the key gets another secret.
constexpr std::size_t kHashChars = 16;

tl::unexpected<Error> unknown() {
    return fail(
        ErrorCode::Unauthenticated,
        "the credential is not known, was revoked or has expired; get a key with `lavant key create` and "
        "send it as `Authorization: Bearer`");
}

int stricter(int one, int other) {
    return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

std::string id_of_name(ports::Crypto& crypto, std::string_view name) {
    const std::string hex = to_hex(crypto.sha256("lavant principal " + std::string(name)));
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20, 12);
}

bool looks_like_key(std::string_view text) {
    return text.starts_with(kKeyPrefix) && text.size() == kKeyPrefix.size() + kKeyChars;
}

AssetWrite key_row(ports::Crypto& crypto, std::string_view plain, const std::string& name,
                   const KeyFacts& facts) {
    AssetWrite write;
    write.asset.key = {"", kKeyKind, name, ""};
    write.asset.hash = to_hex(crypto.sha256(plain));
    write.asset.body = key_body(facts);
    write.expected = 0;
    return write;
}

std::string key_body(const KeyFacts& facts) {
    Json body = Json::object({{"user", facts.user}, {"role", name_of(facts.role)}});
    if (!facts.label.empty()) body.set("label", facts.label);
    if (facts.expires_at != Instant::max()) body.set("expiresAt", to_unix_seconds(facts.expires_at));
    const KeyLimits& limits = facts.limits;
    if (limits.requests_per_s > 0) body.set("requestsPerSecond", limits.requests_per_s);
    if (limits.upload_mib_per_s > 0) body.set("uploadMibPerSecond", limits.upload_mib_per_s);
    if (limits.body_mib > 0) body.set("bodyMib", limits.body_mib);
    if (!facts.parent.empty()) body.set("parent", facts.parent);
    if (!facts.parent.empty()) body.set("parentHash", facts.parent_hash);
    return body.dump();
}

Result<KeyFacts> key_facts(const Asset& row) {
    LAVANT_TRY(const Json body, wire::parse_json(row.body));
    KeyFacts facts{.user = body["user"].string(), .role = Role::None, .label = body["label"].string()};
    if (body["role"].text() != name_of(Role::None)) {
        LAVANT_TRY(facts.role, parse_role(body["role"].text()));
    }
    if (body.has("expiresAt")) facts.expires_at = from_unix_seconds(body["expiresAt"].integer());
    facts.limits = {static_cast<int>(body["requestsPerSecond"].integer()),
                    static_cast<int>(body["uploadMibPerSecond"].integer()),
                    static_cast<int>(body["bodyMib"].integer())};
    facts.parent = body["parent"].string();
    facts.parent_hash = body["parentHash"].string();
    return facts;
}

Access::Access(Ports ports, std::string_view secret) : ports_(ports), tokens_(ports.crypto, secret) {}

Result<Caller> Access::check_authorization(std::string_view header, std::string_view peer) {
    constexpr std::string_view kScheme = "bearer ";
    if (header.size() <= kScheme.size() || !equals_ignoring_case(header.substr(0, kScheme.size()), kScheme))
        return fail(ErrorCode::Unauthenticated,
                    "this needs a credential; send `Authorization: Bearer <API key or token>`");
    return check_credential(trim(header.substr(kScheme.size())), peer);
}

Result<Caller> Access::check_credential(std::string_view credential, std::string_view peer) {
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
    const std::string host = host_of_peer(peer);
    if (!host.empty() && failures_.wait_for(host, failure_rate_, now) > Duration::zero())
        return fail(ErrorCode::ResourceExhausted,
                    "too many wrong credentials came from your address; wait a little");
    Result<Remembered> fresh = verify(credential);
    if (!fresh) {
        if (!host.empty()) failures_.charge(host, failure_rate_, 1, now);
        return fail(std::move(fresh.error()));
    }
    Caller caller = fresh->caller;
    const std::lock_guard lock(mutex_);
    if (generation == generation_) {  // else a key was revoked meanwhile, perhaps this one
        if (remembered_.size() >= kRememberedMax) remembered_.clear();
        remembered_.insert_or_assign(std::move(digest), std::move(*fresh));
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
    return remember_key(*row);
}

std::string Access::hash_mark(const Asset& row) { return row.hash.substr(0, kHashChars); }

Result<KeyFacts> Access::living_facts(const Asset& row, std::string& metered_as) const {
    LAVANT_TRY(KeyFacts facts, key_facts(row));
    metered_as = row.key.name;
    KeyFacts last = facts;
    for (int i = 0; !last.parent.empty(); ++i) {
        LAVANT_TRY(const auto parent, ports_.reader.find_asset({"", kKeyKind, last.parent, ""}));
        if (i == kParentsMax || !parent || hash_mark(*parent) != last.parent_hash) return unknown();
        LAVANT_TRY(last, key_facts(*parent));
        metered_as = parent->key.name;
        facts.role = std::min(facts.role, last.role);
        facts.expires_at = std::min(facts.expires_at, last.expires_at);
        KeyLimits& limits = facts.limits;
        limits = {stricter(limits.requests_per_s, last.limits.requests_per_s),
                  stricter(limits.upload_mib_per_s, last.limits.upload_mib_per_s),
                  stricter(limits.body_mib, last.limits.body_mib)};
    }
    if (ports_.clock.now() >= facts.expires_at) return unknown();
    return facts;
}

Result<Access::Remembered> Access::remember_key(const Asset& row) {
    Remembered answer;
    Caller& caller = answer.caller;
    LAVANT_TRY(KeyFacts facts, living_facts(row, caller.metered_as));
    const Instant now = ports_.clock.now();
    LAVANT_TRY(const auto roles, book());
    caller.server_role = caller.role = std::max(facts.role, roles->role_of(facts.user, "", ""));
    caller.key_role = facts.role;
    caller.user = std::move(facts.user);
    caller.key = row.key.name;
    caller.expires_at = facts.expires_at;
    caller.limits = facts.limits;
    answer.until = std::min(now + kRememberKeyFor, facts.expires_at);
    return answer;
}

Result<std::shared_ptr<const AccessBook>> Access::book() {
    const Instant now = ports_.clock.now();
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        if (book_ && now < book_until_) return book_;
        generation = generation_;
    }
    LAVANT_TRY(AccessBook fresh, load_book(ports_.reader));
    auto shared = std::make_shared<const AccessBook>(std::move(fresh));
    const std::lock_guard lock(mutex_);
    if (generation == generation_) {
        book_ = shared;
        book_until_ = now + kRememberBookFor;
    }
    return shared;
}

Result<Role> Access::role_in(const Caller& caller, std::string_view workspace, std::string_view resource) {
    if (!caller.job.empty() || caller.server_role == Role::Owner) return caller.server_role;
    LAVANT_TRY(const auto roles, book());
    return std::max(caller.server_role, roles->role_of(caller.user, workspace, resource));
}

Result<void> Access::may_use_datastore(const Caller& caller, const std::string& workspace,
                                       const std::string& datastore, bool write) {
    if (caller.key.empty())
        return fail(ErrorCode::PermissionDenied, "a job's token opens no datastore by itself");
    LAVANT_TRY(const Role role, role_in(caller, workspace, "datastores/" + datastore));
    if (role == Role::Owner) return {};
    LAVANT_TRY(const auto roles, book());
    const DataRight by_role = role >= Role::Contributor ? DataRight::Write
                              : role >= Role::Reader    ? DataRight::Read
                                                        : DataRight::None;
    const DataRight right = roles->data_right_of(caller.user, workspace, datastore).value_or(by_role);
    if (right >= (write ? DataRight::Write : DataRight::Read)) return {};
    const std::string missing = write ? "write" : "read";
    return fail(ErrorCode::PermissionDenied, "'" + caller.user + "' may not " + missing + " datastore '" +
                                                 datastore +
                                                 "'; an owner can change that: lavant role assign " +
                                                 missing + " " + caller.user + " --datastore " + datastore);
}

Result<Access::Remembered> Access::verify_token(std::string_view token) {
    const Instant now = ports_.clock.now();
    const auto opened = tokens_.open(token, now);
    if (!opened) return unknown();
    return opened->of_job ? verify_job(opened->claims) : verify_user(opened->claims);
}

Result<Access::Remembered> Access::verify_job(const Json& claims) {
    const std::string name = claims["job"].string();
    if (name.empty()) return unknown();
    const std::string workspace = claims["ws"].string(kDefaultWorkspace);
    LAVANT_TRY(const auto job, ports_.reader.find_job(workspace, name));
    const bool current =
        job && job->head.attempt == claims["attempt"].integer() && !is_terminal(job->head.status);
    if (!current) return unknown();
    Remembered answer;
    answer.caller = {claims["sub"].string(), Role::Job, "", name, workspace};
    answer.until = ports_.clock.now() + kRememberJobFor;
    return answer;
}

Result<Access::Remembered> Access::verify_user(const Json& claims) {
    const std::string key = claims["key"].string();
    if (key.empty()) return unknown();  // It says who somebody is and opens nothing.
    LAVANT_TRY(const auto row, ports_.reader.find_asset({"", kKeyKind, key, ""}));
    if (!row || hash_mark(*row) != claims["key_hash"].text()) return unknown();
    LAVANT_TRY(Remembered answer, remember_key(*row));
    const Instant expiry = from_unix_seconds(claims["exp"].integer());
    answer.until = std::min(answer.until, expiry + kClockSkew);
    answer.caller.expires_at = std::min(answer.caller.expires_at, expiry);
    return answer;
}

NewKey Access::make_key(const std::string& name, const KeyFacts& facts) const {
    NewKey made;
    made.plain = std::string(kKeyPrefix) + base64url_encode(ports_.crypto.random_bytes(32));
    made.write = key_row(ports_.crypto, made.plain, name, facts);
    return made;
}

Json Access::claims_of(const Caller& caller, const TokenAsk& ask) const {
    const std::int64_t now = to_unix_seconds(ports_.clock.now());
    return Json::object({{"aud", ask.audience},
                         {"iss", ask.issuer},
                         {"tid", kTenant},
                         {"sub", caller.user},
                         {"oid", id_of_name(ports_.crypto, caller.user)},
                         {"name", caller.user},
                         {"upn", caller.user},
                         {"preferred_username", caller.user},
                         {"iat", now},
                         {"nbf", now},
                         {"exp", to_unix_seconds(std::min(ask.expires_at, caller.expires_at))}});
}

std::string Access::make_token(const Caller& caller, const TokenAsk& ask) const {
    std::string hash;
    if (const auto row = ports_.reader.find_asset({"", kKeyKind, caller.key, ""}); row && *row)
        hash = hash_mark(**row);
    Json claims = claims_of(caller, ask);
    claims.set("ver", "1.0");
    claims.set("role", name_of(caller.role));
    claims.set("appid", ask.client);
    claims.set("key", caller.key);
    claims.set("key_hash", hash);
    return tokens_.sign_for_user(claims.dump());
}

std::string Access::make_id_token(const Caller& caller, const TokenAsk& ask) const {
    Json claims = claims_of(caller, ask);
    claims.set("ver", "2.0");
    return tokens_.sign_for_user(claims.dump());
}

std::string Access::make_job_token(const JobHead& job, int attempt) const {
    std::string claims = R"({"iss":"lavant","sub":)" + json_quote("job/" + job.name) + R"(,"job":)" +
                         json_quote(job.name) + R"(,"ws":)" + json_quote(job.workspace) + R"(,"attempt":)" +
                         std::to_string(attempt) + R"(,"exp":)" +
                         std::to_string(to_unix_seconds(ports_.clock.now() + kJobTokenLife)) + "}";
    return tokens_.sign_for_job(claims);
}

void Access::forget_all() {
    const std::lock_guard lock(mutex_);
    remembered_.clear();
    book_.reset();
    ++generation_;
}

}  // namespace lavant::api

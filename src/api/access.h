#pragma once
// Who calls. API keys (stored hashed, as assets of kind "api_keys"), JWTs made from them, and the tokens of
// running attempts. Verified credentials are remembered for a short while, so that a request pays one hash.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/principals.h"
#include "api/rate_buckets.h"
#include "api/tokens.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/asset.h"
#include "core/model/job.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/store.h"

namespace lavant::api {

// What a key may do at most; 0: what the server allows.
struct KeyLimits {
    int requests_per_s = 0;
    int upload_mib_per_s = 0;
    int body_mib = 0;
};

struct Caller {
    std::string user;
    Role role = Role::Reader;    // on the whole server; once a route was entered, on what it is about
    std::string key;             // the name of the API key behind it, empty for a job
    std::string job;             // of a job's token
    std::string workspace = {};  // of that job
    Instant expires_at = Instant::max();
    KeyLimits limits = {};
    Role server_role = Role::None;
    Role key_role = Role::None;   // that of the key alone
    std::string metered_as = {};  // the key whose limits it shares: that from which its own was made
};

struct KeyFacts {
    std::string user;
    Role role = Role::Reader;
    std::string label = {};  // what it is for, in the user's words
    Instant expires_at = Instant::max();
    KeyLimits limits = {};
    // The key that approved this one, and the beginning of its hash: with that secret this key ends. "":
    // none.
    std::string parent = {};
    std::string parent_hash = {};
};

struct NewKey {
    std::string plain;  // shown once
    AssetWrite write;
};

struct TokenAsk {
    std::string_view audience;
    std::string_view issuer;
    Instant expires_at{};
    std::string_view client;
};

class Access {
 public:
    struct Ports {
        ports::Reader& reader;
        ports::Crypto& crypto;
        ports::Clock& clock;
    };
    // `secret`: bytes from which the signing key is derived.
    Access(Ports ports, std::string_view secret);

    // The value of an Authorization header: "Bearer <JWT or API key>". Any thread.
    // `peer`: who sent it, as HttpRequest has it. A host that sent too many wrong credentials waits
    // (ResourceExhausted) before another unknown one is looked at; those known lately still pass.
    [[nodiscard]] Result<Caller> check_authorization(std::string_view header, std::string_view peer = {});
    [[nodiscard]] Result<Caller> check_credential(std::string_view credential, std::string_view peer = {});
    void limit_failures(Rate rate) { failure_rate_ = rate; }  // before the first request

    // "lvk_" and 43 characters; the caller stores `write`.
    NewKey make_key(const std::string& name, const KeyFacts& facts) const;
    // A JWT on behalf of an API key's user. It ends with the caller's credential at the latest.
    std::string make_token(const Caller& caller, const TokenAsk& ask) const;
    // What tells a client who the user is (OpenID); no credential.
    std::string make_id_token(const Caller& caller, const TokenAsk& ask) const;
    // For the processes of one attempt: dead as soon as the attempt is not the current one. Any thread.
    std::string make_job_token(const JobHead& job, int attempt) const;
    // What the key of this row may do, itself and with it all that it was made from. Unauthenticated: one of
    // them is gone, has another secret or has expired.
    [[nodiscard]] Result<KeyFacts> living_facts(const Asset& row, std::string& metered_as) const;
    static std::string hash_mark(const Asset& row);  // for KeyFacts::parent_hash
    // The largest role that applies: on the server, on the workspace (its key) or on the resource
    // ("computes/gpu"), by the key, the user or a group.
    [[nodiscard]] Result<Role> role_in(const Caller& caller, std::string_view workspace,
                                       std::string_view resource);
    // Whether the caller may read (or write) the files of a datastore: as was given for this very datastore,
    // else as the role says. An owner always may. PermissionDenied tells what is missing.
    [[nodiscard]] Result<void> may_use_datastore(const Caller& caller, const std::string& workspace,
                                                 const std::string& datastore, bool write);
    [[nodiscard]] Result<std::shared_ptr<const AccessBook>> book();
    void forget_all();  // after a key, a group or a role was changed
    wire::Json key_set() const { return tokens_.key_set(); }

 private:
    struct Remembered {
        Caller caller;
        Instant until{};
    };
    Result<Remembered> verify(std::string_view credential);
    Result<Remembered> verify_key(std::string_view key);
    Result<Remembered> verify_token(std::string_view token);
    Result<Remembered> verify_job(const wire::Json& claims);
    Result<Remembered> verify_user(const wire::Json& claims);
    Result<Remembered> remember_key(const Asset& row);
    wire::Json claims_of(const Caller& caller, const TokenAsk& ask) const;

    Ports ports_;
    Tokens tokens_;
    RateBuckets failures_;
    Rate failure_rate_{.per_s = 10, .burst = 200};
    std::mutex mutex_;                                        // guards what follows
    std::unordered_map<std::string, Remembered> remembered_;  // by the hash of the credential
    std::shared_ptr<const AccessBook> book_;                  // null until somebody asks
    Instant book_until_{};
    std::uint64_t generation_ = 0;  // counts forget_all
};

// The GUID by which Azure's clients know a user: always the same for a name.
std::string id_of_name(ports::Crypto& crypto, std::string_view name);
// "lvk_" and 43 base64url characters.
bool looks_like_key(std::string_view text);
// The row of a key that exists already in plain form.
AssetWrite key_row(ports::Crypto& crypto, std::string_view plain, const std::string& name,
                   const KeyFacts& facts);
std::string key_body(const KeyFacts& facts);
// What a key's row says.
[[nodiscard]] Result<KeyFacts> key_facts(const Asset& row);

}  // namespace lavant::api

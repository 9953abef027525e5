#pragma once
// Who calls. API keys (stored hashed, as assets of kind "api_keys"), JWTs made from them, and the tokens of
// running attempts. Verified credentials are remembered for a short while, so that a request pays one hash.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "core/model/asset.h"
#include "core/model/job.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/store.h"

namespace lavant::api {

// In the order of rights. A job's token may read what a reader may, and write nothing here.
enum class Role { Job, Reader, Contributor, Owner };
std::string_view name_of(Role role);
Result<Role> parse_role(std::string_view name);  // "owner", "contributor", "reader"

struct Caller {
    std::string user;
    Role role = Role::Reader;
    std::string key;             // the name of the API key behind it, empty for a job
    std::string job;             // of a job's token
    std::string workspace = {};  // of that job
};

inline constexpr const char* kKeyKind = "api_keys";

struct NewKey {
    std::string plain;  // shown once
    AssetWrite write;
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
    [[nodiscard]] Result<Caller> check_authorization(std::string_view header);
    [[nodiscard]] Result<Caller> check_credential(std::string_view credential);

    // "lvk_" and 43 characters; the caller stores `write`.
    NewKey make_key(const std::string& name, const std::string& user, Role role) const;
    // A JWT for `audience` on behalf of an API key's user.
    std::string make_token(const Caller& caller, std::string_view audience, Instant expires_at) const;
    // For the processes of one attempt: dead as soon as the attempt is not the current one. Any thread.
    std::string make_job_token(const JobHead& job, int attempt) const;
    void forget_all();  // after a key was revoked

 private:
    struct Remembered {
        Caller caller;
        Instant until{};
    };
    Result<Remembered> verify(std::string_view credential);
    Result<Remembered> verify_key(std::string_view key);
    Result<Remembered> verify_token(std::string_view token);
    std::string sign(std::string_view payload) const;

    Ports ports_;
    std::string signing_key_;
    std::mutex mutex_;                                        // guards what follows
    std::unordered_map<std::string, Remembered> remembered_;  // by the hash of the credential
    std::uint64_t generation_ = 0;                            // counts forget_all
};

// "lvk_" and 43 base64url characters.
bool looks_like_key(std::string_view text);
// The row of a key that exists already in plain form.
AssetWrite key_row(ports::Crypto& crypto, std::string_view plain, const std::string& name,
                   const Caller& owner);

}  // namespace lavant::api

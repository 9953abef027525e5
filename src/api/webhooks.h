#pragma once
// What a webhook is told of a job, signed so that the receiver can tell who speaks.

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/model/effect.h"
#include "ports/crypto.h"
#include "ports/http.h"

namespace lavant::api {

class Webhooks {
 public:
    Webhooks(ports::Crypto& crypto, std::string_view secret)
        : crypto_(crypto), key_(crypto.hmac_sha256(secret, "lavant webhooks")) {}

    // What receivers check signatures with: text, one for each workspace.
    std::string secret_of(const std::string& workspace) const;
    // `Lavant-Signature: t=UNIX-SECONDS,v1=HEX` of HMAC-SHA256 over "UNIX-SECONDS.BODY".
    ports::ClientRequest request_for(const NotifyOfJob& notice, Instant now) const;
    // Whether the receiver took it; Unavailable and DeadlineExceeded are worth another try, InvalidArgument
    // is not.
    [[nodiscard]] static Result<void> judge(const NotifyOfJob& notice,
                                            const Result<ports::HttpResponse>& answer);

 private:
    ports::Crypto& crypto_;
    std::string key_;
};

// The host of an http or https URL, in lower case, without its port.
std::string host_of_url(std::string_view url);

}  // namespace lavant::api

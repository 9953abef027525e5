#include "api/metering.h"

#include <algorithm>

#include "api/answers.h"

namespace lavant::api {
namespace {

constexpr double kBurstSeconds = 2;  // so much at once after a pause

std::string name_of_caller(const Caller& caller, const ports::HttpRequest& request) {
    if (!caller.metered_as.empty()) return caller.metered_as;
    if (!caller.key.empty()) return caller.key;
    if (!caller.job.empty()) return "job " + caller.workspace + " " + caller.job;
    return "host " + host_of_peer(request.peer);
}

Rate rate_of(double per_s) { return {.per_s = per_s, .burst = std::max(1.0, per_s * kBurstSeconds)}; }

ports::HttpResponse too_many(Duration wait, const std::string& what) {
    ports::HttpResponse response =
        error_response({ErrorCode::ResourceExhausted,
                        "this key " + what + "; try again in " + retry_after(wait) + " s",
                        {}});
    for (ports::Header& header : response.headers)
        if (header.first == "Retry-After") header.second = retry_after(wait);
    return response;
}

}  // namespace

std::uint64_t Meter::body_bytes(const Caller& caller, std::uint64_t otherwise) {
    if (caller.limits.body_mib <= 0) return otherwise;
    return std::min(otherwise, static_cast<std::uint64_t>(caller.limits.body_mib) << 20);
}

std::optional<ports::HttpResponse> Meter::count(const Caller& caller, const ports::HttpRequest& request,
                                                Instant now) {
    const std::uint64_t bytes = std::max<std::uint64_t>(request.body_bytes, request.body.size());
    if (bytes > body_bytes(caller, bytes)) {
        ports::HttpResponse response = error_response(
            {ErrorCode::InvalidArgument,
             "a body sent with this key may have " + std::to_string(caller.limits.body_mib) + " MiB at most",
             {}});
        response.status = 413;
        return response;
    }
    const std::string name = name_of_caller(caller, request);
    const KeyLimits& own = caller.limits;
    const Rate requests = rate_of(own.requests_per_s > 0 ? own.requests_per_s : settings_.requests_per_s);
    if (const Duration wait = requests_.take(name, requests, 1, now); wait > Duration::zero())
        return too_many(wait, "has sent too many requests");
    if (bytes == 0) return std::nullopt;
    const int mib = own.upload_mib_per_s > 0 ? own.upload_mib_per_s : settings_.upload_mib_per_s;
    const Rate uploads = rate_of(static_cast<double>(mib) * (1U << 20));
    if (const Duration wait = uploads_.wait_for(name, uploads, now); wait > Duration::zero())
        return too_many(wait, "has uploaded too much");
    uploads_.charge(name, uploads, static_cast<double>(bytes), now);
    return std::nullopt;
}

}  // namespace lavant::api

#pragma once
// `lavant quota …`, and usages as `az ml compute list-usage` shows them.

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct QuotaListOptions {
    std::string location;  // "" where the workspace is, and where something is used or set
    std::string family;    // "" all
    bool used = false;     // only those of which something is used
    bool all = false;      // also in a table those that are as they are by default
};
[[nodiscard]] Outcome<Exit> list_quotas(Session& session, const Console& console,
                                        const QuotaListOptions& options, const Output& output);

// What people write; the server knows what of it is right.
struct QuotaWords {
    std::string family;
    std::string cores;
    std::string location;
    std::string tier;
    std::string level;
    std::string reason;
};
[[nodiscard]] Outcome<Exit> set_quota(Session& session, const Console& console, const QuotaWords& words,
                                      const Output& output);

[[nodiscard]] Outcome<Exit> request_quota(Session& session, const Console& console, const QuotaWords& words,
                                          const Output& output);
[[nodiscard]] Outcome<Exit> list_quota_requests(Session& session, const Console& console, bool all,
                                                const Output& output);
// `cores` "": as many as were asked for.
[[nodiscard]] Outcome<Exit> grant_quota(Session& session, const Console& console, const std::string& id,
                                        const std::string& cores, const Output& output);
[[nodiscard]] Outcome<Exit> deny_quota(Session& session, const Console& console, const std::string& id,
                                       const Output& output);

[[nodiscard]] Outcome<Exit> list_usages(Session& session, const Console& console, const std::string& location,
                                        const Output& output);

}  // namespace lavant::cli

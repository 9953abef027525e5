#pragma once
// `lavant size list | show | create | delete`, and `az ml compute list-sizes`.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/output.h"
#include "cli/session.h"
#include "core/model/site_size.h"

namespace lavant::cli {

struct SizeFilter {
    std::string location;    // "": anywhere
    std::int64_t vcpus = 0;  // at least, as the next two
    double memory_gib = 0;
    std::int64_t gpus = 0;
    std::optional<double> price_max;  // dollars an hour, dedicated
    bool retired = false;             // those too
};

// The cheapest first.
[[nodiscard]] Outcome<Exit> list_sizes(Session& session, const Console& console, const SizeFilter& filter,
                                       const Output& output);
[[nodiscard]] Outcome<Exit> show_size(Session& session, const Console& console, const std::string& name,
                                      const Output& output);
[[nodiscard]] Outcome<Exit> create_size(Session& session, const Console& console, const SiteSize& asked,
                                        const Output& output);
[[nodiscard]] Outcome<Exit> delete_size(Session& session, const Console& console, const std::string& name);

// As az prints them: those of a region, of the workspace's if none is named.
[[nodiscard]] Outcome<Exit> list_az_sizes(Session& session, const Console& console,
                                          const std::string& location, const Output& output);

}  // namespace lavant::cli

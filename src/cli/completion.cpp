#include "cli/completion.h"

#include <fmt/format.h>

#include "base/text.h"

namespace lavant::cli {
namespace {

constexpr int kNamesMost = 30;
constexpr int kPatienceSeconds = 2;

}  // namespace

std::vector<std::string> known_job_names(Context& context, const ServerChoice& choice,
                                         const std::string& begun) {
    std::vector<std::string> names;
    if (std::string_view("@last").starts_with(begun)) names.emplace_back("@last");
    if (begun.starts_with("@")) return names;
    auto session = connect_if_running(context, choice);
    if (!session) return names;
    session->use_timeout(kPatienceSeconds);
    const auto found = session->get(
        session->own_path(fmt::format("/jobs?prefix={}&limit={}", percent_encode(begun), kNamesMost)));
    if (!found) return names;
    for (const wire::Json& job : (*found)["value"].items()) names.push_back(printable(job["name"].text()));
    return names;
}

}  // namespace lavant::cli

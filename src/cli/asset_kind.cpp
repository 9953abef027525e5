#include "cli/asset_kind.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/console.h"
#include "core/spec/asset.h"
#include "wire/az_asset.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kPagesMax = 1'000;
constexpr std::string_view kPrefix = "azureml:";

constexpr AssetWords kWords[] = {
    {"data", "a data asset", "data assets", "data", wire::to_az_data},
    {"model", "a model", "models", "models", wire::to_az_model},
    {"environment", "an environment", "environments", "environments", wire::to_az_environment},
    {"component", "a component", "components", "components", wire::to_az_component},
};

}  // namespace

const AssetWords& words_of(AssetKind kind) { return kWords[static_cast<std::size_t>(kind)]; }

std::string AssetName::text() const {
    if (!version.empty()) return name + ":" + version;
    return label.empty() ? name : name + "@" + label;
}

Outcome<AssetName> read_asset_name(AssetKind kind, const std::string& word, const std::string& version,
                                   const std::string& label) {
    std::string_view bare = word;
    if (bare.starts_with(kPrefix)) bare.remove_prefix(kPrefix.size());
    AssetName name{std::string(bare), version, label};
    if (const std::size_t mark = bare.find_first_of(":@"); mark != std::string_view::npos) {
        name.name = bare.substr(0, mark);
        (bare[mark] == ':' ? name.version : name.label) = bare.substr(mark + 1);
        const bool twice = (bare[mark] == ':' && !version.empty() && version != name.version) ||
                           (bare[mark] == '@' && !label.empty() && label != name.label);
        if (twice)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("'{}' says one version and the options another; give one of them",
                                    printable(word)));
    }
    if (!name.version.empty() && !name.label.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument, "give a version or a label, not both");
    if (const std::string problem = spec::asset_name_problem(name.name); !problem.empty())
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("cannot look for {}: its name {}", words_of(kind).article, printable(problem)));
    return name;
}

std::string container_path(const Session& session, AssetKind kind, const std::string& name) {
    return session.workspace_path(fmt::format("/{}/{}", words_of(kind).segment, percent_encode(name)));
}

std::string version_path(const Session& session, AssetKind kind, const AssetName& name) {
    return container_path(session, kind, name.name) + "/versions/" + percent_encode(name.version);
}

Outcome<Json> fetch_version(Session& session, AssetKind kind, const AssetName& name, std::string_view verb) {
    const std::string container = container_path(session, kind, name.name);
    const std::string what = fmt::format("{} {} '{}'", verb, words_of(kind).word, printable(name.text()));
    if (!name.version.empty()) return session.attempt(what, "GET", version_path(session, kind, name), Json());
    if (!name.label.empty() && !equals_ignoring_case(name.label, "latest"))
        return session.attempt(what, "GET", container + "/labels/" + percent_encode(name.label), Json());
    LAVANT_TRY(
        const Json newest,
        session.attempt(what, "GET", container + "/versions?$orderBy=createdtime%20desc&$top=1", Json()));
    if (newest["value"].size() > 0) return newest["value"].items().front();
    return stop(Exit::Refused, ErrorCode::NotFound,
                fmt::format("cannot {}: there is none of that name, or it is archived; see: lavant {} list",
                            what, words_of(kind).word));
}

std::string_view view_of(Archived archived) {
    switch (archived) {
        case Archived::No:
            return "ActiveOnly";
        case Archived::Only:
            return "ArchivedOnly";
        case Archived::Too:
            break;
    }
    return "All";
}

Outcome<std::vector<Json>> fetch_list(Session& session, std::string_view what, const std::string& path,
                                      std::string_view view, int max) {
    std::vector<Json> found;
    std::string next = view.empty() ? path : fmt::format("{}?listViewType={}", path, view);
    const auto enough = [&] { return max > 0 && std::ssize(found) >= max; };
    for (int page = 0; !next.empty() && !enough(); ++page) {
        if (page == kPagesMax)
            return stop(Exit::Refused, ErrorCode::ResourceExhausted,
                        fmt::format("cannot list the {}: the server has more than {} pages of them; ask for "
                                    "fewer: --max-results N",
                                    what, kPagesMax));
        LAVANT_TRY(const Json answer, session.attempt(fmt::format("list the {}", what), "GET", next, Json()));
        for (const Json& one : answer["value"].items()) found.push_back(one);
        next = next_page(answer);
    }
    if (enough()) found.resize(static_cast<std::size_t>(max));
    return found;
}

}  // namespace lavant::cli

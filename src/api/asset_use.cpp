#include "api/asset_use.h"

#include <algorithm>
#include <set>
#include <string>

#include "api/asset_names.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr int kJobsPerLook = 1'000;

class Wanted {
 public:
    explicit Wanted(const std::vector<Asset>& assets) {
        for (const Asset& asset : assets) {
            kind_ = asset.key.kind;
            names_.insert(asset.key.name);
            versions_.insert(asset.key.name + ":" + asset.key.version);
        }
    }
    // Most jobs do not: they need not be parsed to know it.
    bool may_be_in(std::string_view text) const {
        return std::ranges::any_of(
            names_, [&](const std::string& name) { return text.find(name) != std::string_view::npos; });
    }
    // A label counts as every version: which one it stood for is not written down.
    bool is_meant_by(std::string_view reference) const {
        const auto name = parse_asset_name(reference, kind_);
        if (!name) return false;
        return name->version.empty() ? names_.contains(name->name)
                                     : versions_.contains(name->name + ":" + name->version);
    }
    bool is_in(const Json& value) const {
        if (value.is_string()) return is_meant_by(value.text());
        for (const Json::Member& member : value.members())
            if (is_in(member.value)) return true;
        return std::ranges::any_of(value.items(), [&](const Json& item) { return is_in(item); });
    }

 private:
    std::string kind_;
    std::set<std::string> names_;
    std::set<std::string> versions_;
};

// Where a job names assets: a command, for one, is free to have the same words in it.
bool uses(const Job& job, const Wanted& wanted) {
    if (!wanted.may_be_in(job.body.properties)) return false;
    const auto properties = wire::parse_json(job.body.properties);
    if (!properties) return false;
    for (const char* field : {"codeId", "environmentId", "componentId"})
        if (wanted.is_meant_by((*properties)[field].text())) return true;
    for (const char* field : {"inputs", "outputs", "jobs", "trial", "taskDetails"})
        if (wanted.is_in((*properties)[field])) return true;
    return false;
}

}  // namespace

Result<void> check_unused(Context& context, const std::vector<Asset>& assets) {
    if (assets.empty()) return {};
    const Wanted wanted(assets);
    for (const JobStatus status : kEveryStatus) {
        if (is_terminal(status)) continue;
        ports::JobQuery query;
        query.workspace = assets.front().key.workspace;
        query.archived = std::nullopt;
        query.status = name_of(status);
        query.limit = kJobsPerLook;
        while (true) {
            LAVANT_TRY(const auto jobs, context.ports.reader.list_jobs(query));
            for (const Job& job : jobs)
                if (uses(job, wanted))
                    return fail(ErrorCode::Conflict, "job '" + job.head.name + "' is " +
                                                         std::string(name_of(status)) +
                                                         " and uses it; wait for its end or cancel it, "
                                                         "or archive the asset instead");
            if (jobs.size() < static_cast<std::size_t>(kJobsPerLook)) break;
            query.before_id = jobs.back().head.id.value;
        }
    }
    return {};
}

}  // namespace lavant::api

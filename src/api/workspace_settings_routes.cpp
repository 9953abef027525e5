#include "api/workspace_settings_routes.h"

#include <utility>

#include "api/answers.h"
#include "api/job_routes.h"
#include "api/lock_routes.h"
#include "api/request_body.h"
#include "api/workspace_settings.h"
#include "api/workspace_view.h"
#include "base/text.h"
#include "core/model/lock_scope.h"
#include "core/model/region.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kTextCharsMax = 4096;  // of the description, and of the name shown
constexpr std::size_t kTagsMax = 50;         // as on Azure, as the next two
constexpr std::size_t kTagKeyCharsMax = 512;
constexpr std::size_t kTagValueCharsMax = 256;

using Problems = std::vector<FieldProblem>;

void add(Problems& problems, std::string path, std::string message) {
    problems.push_back({std::move(path), std::move(message), 0, 0});
}

Json tags_json(const WorkspaceSettings& settings) {
    Json tags = Json::object();
    for (const auto& [key, value] : settings.tags) tags.set(key, value);
    return tags;
}

Json subnet_json(const WorkspaceSettings& settings) {
    return settings.custom_subnet.empty() ? Json() : Json(settings.custom_subnet);
}

// --- as ARM shows it ---

Json arm_view(Context& context, const Call& call, const WorkspaceSettings& settings) {
    const auto found = context.workspaces.find(workspace_of(call));
    return workspace_view(context, call, found && *found ? **found : Workspace{}, settings);
}

Result<HttpResponse> show_arm(Context& context, const Call& call) {
    LAVANT_TRY(const WorkspaceSettings settings, load_settings(context, call.workspace));
    return json_response(200, arm_view(context, call, settings));
}

// --- as we do ---

Json own_view(Context& /*context*/, const Call& /*call*/, const WorkspaceSettings& settings) {
    return Json::object({{"serverless", settings.serverless},
                         {"serverless_compute", Json::object({{"custom_subnet", subnet_json(settings)},
                                                              {"no_public_ip", settings.no_public_ip}})},
                         {"display_name", settings.display_name},
                         {"description", settings.description},
                         {"tags", tags_json(settings)}});
}

Result<HttpResponse> show_own(Context& context, const Call& call) {
    LAVANT_TRY(const WorkspaceSettings settings, load_settings(context, call.workspace));
    return json_response(200, own_view(context, call, settings));
}

// --- changes ---

// Absent and null leave things as they are.
void read_text(const Json& object, const char* key, const std::string& path, std::string& into,
               Problems& problems) {
    const Json& value = object[key];
    if (value.is_null()) return;
    if (!value.is_string() || value.text().size() > kTextCharsMax) {
        add(problems, path + key,
            "must be a text of at most " + std::to_string(kTextCharsMax) + " characters");
    } else {
        into = value.string();
    }
}

void read_tags(const Json& tags, WorkspaceSettings& settings, Problems& problems) {
    if (tags.is_null()) return;
    if (!tags.is_object() || tags.size() > kTagsMax) {
        add(problems, "tags", "must be names with values, at most " + std::to_string(kTagsMax));
        return;
    }
    settings.tags.clear();
    for (const auto& [key, value] : tags.members()) {
        const std::string text = value.scalar_text();
        const bool fits = !key.empty() && key.size() <= kTagKeyCharsMax && text.size() <= kTagValueCharsMax;
        if (!fits || value.is_object() || value.is_array()) {
            add(problems, "tags." + key.substr(0, 100),
                "a tag's name has at most " + std::to_string(kTagKeyCharsMax) + " characters, its value " +
                    std::to_string(kTagValueCharsMax));
            continue;
        }
        settings.tags[key] = text;
    }
}

struct ServerlessWords {
    const char* path;
    const char* subnet;
    const char* no_public_ip;
};
constexpr ServerlessWords kArmWords{"properties.serverlessComputeSettings.", "serverlessComputeCustomSubnet",
                                    "serverlessComputeNoPublicIP"};
constexpr ServerlessWords kOwnWords{"serverless_compute.", "custom_subnet", "no_public_ip"};

// The whole of it is replaced: what is not said is as it was at first.
void read_serverless(const Json& given, const ServerlessWords& words, WorkspaceSettings& settings,
                     Problems& problems) {
    if (given.is_null()) return;
    if (!given.is_object()) {
        add(problems, words.path, "must be an object");
        return;
    }
    refuse_unknown(given, words.path, {words.subnet, words.no_public_ip}, problems);
    const Json& subnet = given[words.subnet];
    if (!subnet.is_null() && !(subnet.is_string() && (subnet.text().empty() || is_subnet_id(subnet.text()))))
        add(problems, std::string(words.path) + words.subnet,
            "must be the id of a subnet: /subscriptions/S/resourceGroups/G/providers/Microsoft.Network/"
            "virtualNetworks/V/subnets/N");
    settings.custom_subnet = subnet.string();
    const Json& no_public_ip = given[words.no_public_ip];
    if (!no_public_ip.is_null() && !no_public_ip.is_boolean())
        add(problems, std::string(words.path) + words.no_public_ip, "must be true or false");
    settings.no_public_ip = no_public_ip.boolean();
}

// What clients send beyond these (identity, networks, keys) has no meaning here and is left out.
Result<void> change_by_arm(const Json& body, WorkspaceSettings& settings, Problems& problems) {
    const Json& properties = body["properties"];
    read_text(properties, "friendlyName", "properties.", settings.display_name, problems);
    read_text(properties, "description", "properties.", settings.description, problems);
    read_tags(body["tags"], settings, problems);
    read_serverless(properties["serverlessComputeSettings"], kArmWords, settings, problems);
    return {};
}

Result<void> change_by_own(const Json& body, WorkspaceSettings& settings, Problems& problems) {
    refuse_unknown(body, "", {"serverless", "serverless_compute", "display_name", "description", "tags"},
                   problems);
    if (const Json& serverless = body["serverless"]; serverless.is_boolean()) {
        settings.serverless = serverless.boolean();
    } else if (!serverless.is_null()) {
        add(problems, "serverless", "must be true or false");
    }
    read_text(body, "display_name", "", settings.display_name, problems);
    read_text(body, "description", "", settings.description, problems);
    read_tags(body["tags"], settings, problems);
    read_serverless(body["serverless_compute"], kOwnWords, settings, problems);
    return {};
}

using Change = Result<void> (*)(const Json&, WorkspaceSettings&, Problems&);
using View = Json (*)(Context&, const Call&, const WorkspaceSettings&);

Result<WorkspaceSettings> plan_change(Context& context, const Call& call, const Json& body, Change change) {
    LAVANT_TRY(WorkspaceSettings settings, load_settings(context, call.workspace));
    Problems problems;
    LAVANT_TRY_VOID(change(body, settings, problems));
    if (!problems.empty())
        return fail(Error{ErrorCode::InvalidArgument, "the settings are not valid", std::move(problems)});
    LAVANT_TRY(const auto lock, find_workspace_lock(context, call));
    if (lock)
        return fail(ErrorCode::Conflict, "the workspace is locked: '" + lock->name + "' (ReadOnly) on " +
                                             lock->scope +
                                             "; an owner can remove it: lavant lock delete --scope " +
                                             shell_quote(lock->scope) + " -n " + shell_quote(lock->name));
    return settings;
}

using Changed = std::function<void(const WorkspaceSettings&)>;

void store_change(Context& context, const SharedCall& call, Result<WorkspaceSettings> settings,
                  Changed then) {
    if (!settings) return call->respond(error_response(settings.error()));
    plane::WriteAssets event;
    event.writes.push_back(
        settings_write(call->workspace, *settings, call->caller.user, context.ports.clock.now()));
    post(context, call, std::move(event),
         [&context, call, then = std::move(then),
          settings = std::move(*settings)](const plane::Answer& answer) mutable {
             if (answer.assets_written.empty() || !answer.assets_written.front())
                 return call->respond(
                     error_response({ErrorCode::Conflict,
                                     "somebody else changed the workspace at the same time; try again",
                                     {}}));
             ++settings.row_version;
             context.workspace_settings.put(call->workspace, settings, context.ports.clock.now());
             then(settings);
         });
}

void update(Context& context, const SharedCall& call, Change change, View view) {
    const auto body =
        call->request.body.empty() ? Result<Json>(Json::object()) : wire::parse_json(call->request.body);
    if (!body) return call->respond(error_response(body.error()));
    if (!body->is_object())
        return call->respond(
            error_response({ErrorCode::InvalidArgument,
                            "the body must be a JSON object, but is " + std::string(body->type_name()),
                            {}}));
    store_change(context, call, plan_change(context, *call, *body, change),
                 [&context, call, view](const WorkspaceSettings& settings) {
                     call->respond(json_response(200, view(context, *call, settings)));
                 });
}

void update_own(Context& context, const SharedCall& call) { update(context, call, change_by_own, own_view); }

}  // namespace

void update_workspace(Context& context, const SharedCall& call) {
    update(context, call, change_by_arm, arm_view);
}

void change_workspace(Context& context, const SharedCall& call, const wire::Json& body,
                      std::function<void()> then) {
    store_change(context, call, plan_change(context, *call, body, change_by_arm),
                 [then = std::move(then)](const WorkspaceSettings&) { then(); });
}

void add_workspace_settings_routes(Router& router, Context& context) {
    router.add("GET", kWorkspacePattern, answer_now(context, Need::Reader, show_arm));
    router.add("PATCH", kWorkspacePattern, answer_later(context, Need::Owner, update_workspace));
    router.add("GET", "/lavant/v1/workspace", answer_now(context, Need::Reader, show_own));
    router.add("PATCH", "/lavant/v1/workspace", answer_later(context, Need::Owner, update_own));
}

}  // namespace lavant::api

#include "api/context.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/followers.h"

namespace lavant::api {
namespace {

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Context::Context(ApiPorts given_ports, ApiSettings given_settings)
    : settings(std::move(given_settings)),
      ports(std::move(given_ports)),
      access({ports.reader, ports.crypto, ports.clock}, settings.secret),
      device_logins(ports.crypto),
      audit(std::make_shared<AuditLog>(settings.data_folder.empty() ? "" : settings.data_folder + "/audit")),
      meter(settings.metering),
      storage_key(make_storage_keys(ports.crypto, settings.secret)),
      sas(ports.crypto, kStorageAccount, storage_key),
      job_files(ports.reader, ports.blobs),
      space(app::FreeSpace::probe_of(settings.data_folder), settings.free_bytes_min, ports.clock),
      followers(std::make_unique<Followers>()),
      workspaces({ports.reader, ports.blobs, ports.crypto, ports.clock}) {
    access.limit_failures(settings.metering.failed_logins);
}

Context::~Context() = default;

void run_slowly(const Context& context, std::function<void()> work) {
    context.ports.run_slowly ? context.ports.run_slowly(std::move(work)) : work();
}

Route answer_now(Context& context, Need need, Answering handler) {
    return {need, [&context, handler = std::move(handler)](const SharedCall& call) {
                Result<ports::HttpResponse> response = handler(context, *call);
                call->respond(response ? std::move(*response) : error_response(response.error()));
            }};
}

Route answer_later(Context& context, Need need, void (*handler)(Context&, const SharedCall&)) {
    return {need, [&context, handler](const SharedCall& call) { handler(context, call); }};
}

void post(Context& context, const SharedCall& call, plane::Event event,
          std::function<void(plane::Answer)> then) {
    const bool taken =
        context.ports.post(std::move(event), [call, then = std::move(then)](Result<plane::Answer> answer) {
            if (!answer) {
                call->respond(error_response(answer.error()));
            } else {
                then(std::move(*answer));
            }
        });
    if (!taken) call->respond(error_response(inbox_is_full()));
}

Error inbox_is_full() {
    return {
        ErrorCode::ResourceExhausted, "the server has more requests waiting than it takes; try again", {}};
}

std::string origin_of(const Context& context, const ports::HttpRequest& request) {
    const std::string_view host = request.header("Host");
    const bool usable = !host.empty() && host.size() <= 255 && std::ranges::all_of(host, [](char c) {
        return is_word_character(c) || std::string_view(".-_:[]").find(c) != std::string_view::npos;
    });
    return usable ? "https://" + std::string(host) : context.settings.base_url;
}

const WorkspaceName& workspace_of(const Call& call) { return call.workspace_name; }

std::string arm_id(const WorkspaceName& workspace) {
    return "/subscriptions/" + workspace.subscription + "/resourceGroups/" + workspace.resource_group +
           "/providers/Microsoft.MachineLearningServices/workspaces/" + workspace.name;
}

bool is_plain_name(std::string_view name, std::size_t chars_max) {
    return !name.empty() && name.size() <= chars_max && name.front() != '.' &&
           std::ranges::all_of(
               name, [](char c) { return is_word_character(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace lavant::api

#pragma once
// What the route files share: the ports, the settings, who calls, and how a call is answered.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
#include "api/audit_log.h"
#include "api/bounded_cache.h"
#include "api/device_logins.h"
#include "api/log_source.h"
#include "api/metering.h"
#include "api/metrics.h"
#include "api/router.h"
#include "api/sas.h"
#include "api/storage_keys.h"
#include "api/turns.h"
#include "api/workspace_settings.h"
#include "api/workspaces.h"
#include "app/event_feed.h"
#include "app/free_space.h"
#include "app/job_files.h"
#include "base/result.h"
#include "core/model/launch.h"
#include "core/model/size.h"
#include "core/model/workspace.h"
#include "core/plane/events.h"
#include "core/quota/quota_book.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/http.h"
#include "ports/store.h"

namespace lavant::api {

// Which workspace a request to one of our own routes is about: "sub/group/name", each part percent-encoded.
inline constexpr std::string_view kWorkspaceHeader = "Lavant-Workspace";

struct ApiSettings {
    std::string base_url;  // https://127.0.0.1:8443, used where a request has no usable Host header
    std::string secret;    // bytes from which token and account keys are derived
    std::string version = "0.1.0";
    std::string data_folder;
    std::string ca_file;  // what clients have to trust; "": the server has a certificate from elsewhere
    Resources capacity{
        .cpu_millis = 1'000'000, .memory_bytes = 1LL << 50, .gpus = 1'000};  // of all nodes together
    Resources machine{.cpu_millis = 4'000, .memory_bytes = 16LL << 30};      // what the size `local` has
    RetiredSizes retired_sizes = RetiredSizes::Substitute;
    std::uint64_t free_bytes_min = 256ULL << 20;
    // An ended job is shown to azure-ai-ml as Finalizing for this long. That client asks about once a second,
    // streams no log of a job that had ended when it asked first, and expects a job it just made to be
    // unfinished.
    Duration sdk_settle = std::chrono::seconds(1);
    QuotaDefaults quota_defaults = {};           // the plane's own
    std::map<std::string, std::string> mirrors;  // of Azure storage, see data_uris.h
    std::vector<std::string> notify_hosts;       // webhooks may go there only; none: anywhere
    bool make_workspaces = true;                 // those that an owner names and that are not there
    MeterSettings metering = {};                 // how much one key may ask for
};

using Done = std::function<void(Result<plane::Answer>)>;

struct ApiPorts {
    ports::Reader& reader;
    ports::BlobStore& blobs;
    ports::Crypto& crypto;
    ports::Clock& clock;
    app::EventFeed& feed;
    std::function<bool(plane::Event, Done)> post;  // app::ControlLoop::post
    std::function<app::LoopStats()> loop_stats;
    LogSource* logs = nullptr;  // may be absent
    // Runs what keeps a thread busy for long somewhere else than on an I/O thread; absent: at once.
    std::function<void(std::function<void()>)> run_slowly = {};
};

struct AuditNote;  // audit_routes.h

struct Call {
    ports::HttpRequest request;
    std::shared_ptr<ports::Responder> responder;  // the server's, shared with whoever answers later
    Params params;
    Caller caller;
    std::string workspace = kDefaultWorkspace;  // the key of the one it is about
    WorkspaceName workspace_name = default_workspace();
    std::shared_ptr<AuditNote> note = {};  // of a write; shared with the responder, which keeps the record

    void respond(ports::HttpResponse response) const { responder->respond(std::move(response)); }
    const std::string& param(std::string_view name) const { return params.get(name); }
};
using SharedCall = std::shared_ptr<Call>;

struct CodePlace {
    std::string uri;  // as in Launch
    std::string hash;
    std::string datastore = {};  // whose right is needed; "" for a container of the code's own
};

// The datastore behind a container.
struct ContainerPlace {
    std::string workspace;
    std::string datastore;
};

class Followers;  // followers.h

struct Context {
    Context(ApiPorts ports, ApiSettings settings);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const ApiSettings settings;
    ApiPorts ports;
    Access access;
    DeviceLogins device_logins;
    std::shared_ptr<AuditLog> audit;  // shared: an answer may be dropped after everything else is gone
    Meter meter;
    KeyOfContainer storage_key;
    Sas sas;
    app::JobFiles job_files;
    app::FreeSpace space;
    std::unique_ptr<Followers> followers;
    // By the id a job gives, where that names a version: versions do not change, and jobs come by the
    // thousand.
    BoundedCache<LaunchEnvironment> environments{1024};
    BoundedCache<CodePlace> codes{1024};
    BoundedCache<ContainerPlace> container_places{1024};  // of datastores that are folders
    SettingsCache workspace_settings;
    Turns access_turns;  // see access_changes.h
    Workspaces workspaces;
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> refused{0};
};

// What keeps a thread busy for long: elsewhere, or at once where nothing else is given.
void run_slowly(const Context& context, std::function<void()> work);

// A handler that answers at once.
using Answering = std::function<Result<ports::HttpResponse>(Context&, const Call&)>;
Route answer_now(Context& context, Need need, Answering handler);
// One that answers when it can, mostly by `post`.
Route answer_later(Context& context, Need need, void (*handler)(Context&, const SharedCall&));

// Posts to the control loop; `then` runs on its thread after the commit. Errors and a full inbox are answered
// here.
void post(Context& context, const SharedCall& call, plane::Event event,
          std::function<void(plane::Answer)> then);
Error inbox_is_full();  // what is answered when the control loop takes no more

// "https://host:port" as the client spells it, so that links it gets lead back to where it came from.
std::string origin_of(const Context& context, const ports::HttpRequest& request);
// As the caller spells it.
const WorkspaceName& workspace_of(const Call& call);
std::string arm_id(const WorkspaceName& workspace);  // "/subscriptions/.../workspaces/w"
// True for names usable as one path segment and as part of a blob name: letters, digits, '-', '_', '.'.
bool is_plain_name(std::string_view name, std::size_t chars_max);

}  // namespace lavant::api

#include "api/agents/agent_hub.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/staging.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

constexpr std::string_view kRoot = "/lavant/v1/nodes/";
constexpr std::uint64_t kSmallBody = 64U << 10;

std::string_view code_of(int status) {
    switch (status) {
        case 400:
            return "BadRequest";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "ResourceNotFound";
        case 409:
            return "Conflict";
        case 503:
            return "ServiceUnavailable";
        case 507:
            return "InsufficientStorage";
        default:
            return status < 500 ? "Refused" : "InternalServerError";
    }
}

ports::HttpResponse answer(int status, std::string_view message) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}},
            .body = wire::Json::object(
                        {{"error", wire::Json::object({{"code", code_of(status)}, {"message", message}})}})
                        .dump()};
}

ports::HttpResponse answer(const Error& error) {
    switch (error.code) {
        case ErrorCode::InvalidArgument:
            return answer(400, error.message);
        case ErrorCode::Unauthenticated:
            return answer(401, error.message);
        case ErrorCode::PermissionDenied:
            return answer(403, error.message);
        case ErrorCode::NotFound:
            return answer(404, error.message);
        case ErrorCode::AlreadyExists:
        case ErrorCode::Conflict:
            return answer(409, error.message);
        case ErrorCode::ResourceExhausted:
            return answer(507, error.message);
        case ErrorCode::Unavailable:
        case ErrorCode::DeadlineExceeded:
            return answer(503, error.message);
        case ErrorCode::Internal:
            return answer(500, error.message);
    }
    return answer(500, error.message);
}

std::string_view bearer_of(const ports::HttpRequest& request) {
    const std::string_view header = request.header("authorization");
    constexpr std::string_view kScheme = "bearer ";
    if (header.size() <= kScheme.size() || !equals_ignoring_case(header.substr(0, kScheme.size()), kScheme))
        return {};
    return trim(header.substr(kScheme.size()));
}

}  // namespace

// "/lavant/v1/nodes/17/blobs/container/a/b": verb "blobs", container "container", path "a/b".
struct AgentHub::Route {
    NodeId node;
    std::string verb;
    JobId job;  // of staging
    int attempt = 0;
    std::string container;
    std::string path;
};

AgentHub::AgentHub(HubPorts ports, HubSettings settings)
    : ports_(std::move(ports)),
      settings_(std::move(settings)),
      tasks_(ports_.reader),
      job_files_(ports_.reader, ports_.blobs),
      logs_(ports_.blobs, tasks_, settings_.logs) {
    const Result<void> restored = tasks_.restore();
    if (!restored) log(Level::Error, "tasks_not_restored", {{"error", restored.error().message}});
}

AgentHub::~AgentHub() = default;

// --- who is who ---

std::string AgentHub::make_enrol_token(NodeId node, std::int64_t outbox) const {
    const std::string text = "enrol:" + std::to_string(node.value) + ":" + std::to_string(outbox);
    return std::to_string(outbox) + "." + base64url_encode(ports_.crypto.hmac_sha256(settings_.secret, text));
}

std::string AgentHub::credential_of(NodeId node) const {
    return base64url_encode(
        ports_.crypto.hmac_sha256(settings_.secret, "node:" + std::to_string(node.value)));
}

bool AgentHub::has_credential(const ports::HttpRequest& request, NodeId node) const {
    return ports_.crypto.equal_in_constant_time(bearer_of(request), credential_of(node));
}

bool AgentHub::has_enrol_token(const ports::HttpRequest& request, NodeId node) const {
    const std::string_view token = bearer_of(request);
    const std::optional<std::int64_t> outbox = parse_integer(token.substr(0, token.find('.')));
    return outbox && ports_.crypto.equal_in_constant_time(token, make_enrol_token(node, *outbox));
}

std::optional<ports::HttpResponse> AgentHub::refuse(const ports::HttpRequest& request, NodeId node) {
    if (bearer_of(request).empty()) return answer(401, "a node must show its credential");
    if (!has_credential(request, node))
        return answer(403, "this is not the credential of " + to_string(node));
    {
        const std::scoped_lock lock(mutex_);
        if (links_.contains(node)) return std::nullopt;
    }
    const Result<std::vector<Node>> nodes = ports_.reader.list_nodes();
    if (!nodes) return answer(nodes.error());
    if (std::ranges::any_of(*nodes, [&](const Node& one) { return one.id == node && one.enrolled; }))
        return std::nullopt;
    return answer(403, to_string(node) + " is not wanted any more");
}

// --- links ---

void AgentHub::send(NodeId node, ToAgent message) {
    if (const auto* start = std::get_if<StartTask>(&message)) {
        tasks_.started(node, *start);
    } else if (const auto* forget = std::get_if<ForgetTask>(&message)) {
        tasks_.forgotten(forget->task);
        if (!tasks_.has_job(forget->task.job)) logs_.forget(forget->task.job);
    } else if (std::holds_alternative<ReleaseNode>(message)) {
        for (const JobId job : tasks_.released(node))
            if (!tasks_.has_job(job)) logs_.forget(job);
    }
    std::shared_ptr<ports::SocketPeer> peer;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = links_.find(node);
        if (found == links_.end()) return;
        const auto* start = std::get_if<StartTask>(&message);
        if (start != nullptr && start->link != 0 && start->link != found->second.number)
            return;  // said again after the Hello
        peer = found->second.peer;
    }
    peer->send(wire::encode_frame(message));
}

void AgentHub::drop_links() {
    std::map<NodeId, LiveLink> links;
    {
        const std::scoped_lock lock(mutex_);
        links = links_;
    }
    for (const auto& [node, link] : links) link.peer->close();
    // What was to be said and was not may have been that a task is over.
    const Result<void> restored = tasks_.restore();
    if (!restored) log(Level::Warning, "tasks_not_restored", {{"error", restored.error().message}});
    logs_.forget_ended();
}

AgentHub::Holdings AgentHub::holdings() const { return {tasks_.size(), logs_.jobs()}; }

bool AgentHub::post(plane::Event event) { return ports_.post(std::move(event), {}); }

// Returns the link's number, 0 if the control loop cannot take it now.
std::uint64_t AgentHub::link_up(NodeId node, std::shared_ptr<ports::SocketPeer> peer, Hello hello) {
    std::shared_ptr<ports::SocketPeer> older;
    std::uint64_t number = 0;
    {
        const std::scoped_lock lock(mutex_);
        LiveLink& link = links_[node];
        older = std::exchange(link.peer, std::move(peer));
        link.number = number = ++last_link_;
    }
    if (older) older->close();
    if (post(plane::NodeLinked{node, number, std::move(hello)})) return number;
    link_down(node, number);
    return 0;
}

void AgentHub::link_down(NodeId node, std::uint64_t link) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = links_.find(node);
        if (found == links_.end() || found->second.number != link) return;
        links_.erase(found);
    }
    // If the inbox is full the plane finds out by the node's silence, or by its next link.
    (void)post(plane::NodeUnlinked{node, link});
}

// --- requests ---

std::optional<AgentHub::Route> AgentHub::parse_route(const ports::HttpRequest& request) {
    std::string_view rest = request.path;
    if (!rest.starts_with(kRoot)) return std::nullopt;
    rest.remove_prefix(kRoot.size());
    const auto next = [&rest] {
        const std::size_t slash = rest.find('/');
        const std::string_view part = rest.substr(0, slash);
        rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
        return percent_decode(part);
    };
    Route route;
    const std::optional<std::int64_t> node = parse_integer(next());
    if (!node || *node <= 0) return std::nullopt;
    route.node = {*node};
    route.verb = next();
    if (route.verb == "staging") {
        const std::optional<std::int64_t> job = parse_integer(next());
        const std::optional<std::int64_t> attempt = parse_integer(next());
        if (!job || !attempt || *attempt < 1 || *attempt > 1'000'000) return std::nullopt;
        route.job = {*job};
        route.attempt = static_cast<int>(*attempt);
    }
    route.container = next();
    route.path = percent_decode(rest);
    return route;
}

ports::BodyPlan AgentHub::plan_body(const ports::HttpRequest& head) {
    const std::optional<Route> route = parse_route(head);
    const bool staging = route && head.method == "PUT" && route->verb == "staging" &&
                         has_credential(head, route->node) && staging_task(*route);
    if (!staging) return {.bytes_max = kSmallBody, .to_file = false};  // handle() says what is wrong
    return {.bytes_max = limits::kBlobPutBytes, .to_file = true};
}

void AgentHub::handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) {
    const std::optional<Route> route = parse_route(request);
    if (!route) return responder->respond(answer(404, "there is no such route for nodes"));
    const bool get = request.method == "GET";
    if (request.method == "POST" && route->verb == "enrol")
        return enrol(request, *route, std::move(responder));
    if (auto refusal = refuse(request, route->node)) return responder->respond(std::move(*refusal));
    if (get && route->verb == "blobs" && route->path.empty()) return list_blobs(request, *route, *responder);
    if (get && route->verb == "blobs") return get_blob(*route, *responder);
    if (request.method == "PUT" && route->verb == "staging")
        return stage(std::move(request), *route, std::move(responder));
    if (get && (route->verb == "control" || route->verb == "bulk"))
        return responder->respond(answer(426, "this route is a WebSocket"));
    responder->respond(answer(404, "there is no such route for nodes"));
}

void AgentHub::enrol(const ports::HttpRequest& request, const Route& route,
                     std::shared_ptr<ports::Responder> responder) {
    const NodeId node = route.node;
    if (!has_enrol_token(request, node))
        return responder->respond(answer(403, "the token is not for this node"));
    const bool taken = ports_.post(
        plane::EnrolNode{.node = node}, [this, node, responder](const Result<plane::Answer>& enrolled) {
            if (!enrolled) return responder->respond(answer(enrolled.error()));
            responder->respond({.status = 200,
                                .headers = {{"Content-Type", "application/json"}},
                                .body = wire::Json::object({{"credential", credential_of(node)}}).dump()});
        });
    if (!taken) responder->respond(answer(503, "the server is busy"));
}

void AgentHub::list_blobs(const ports::HttpRequest& request, const Route& route,
                          ports::Responder& responder) {
    const std::string prefix = request.query_value("prefix").value_or("");
    if (!tasks_.may_read(route.node, route.container, prefix))
        return responder.respond(answer(403, "no task on this node needs '" + prefix + "'"));
    job_files_.refresh(route.container, prefix);
    const Result<ports::BlobPage> page =
        ports_.blobs.list({.container = route.container,
                           .prefix = prefix,
                           .marker = request.query_value("marker").value_or("")});
    if (!page) return responder.respond(answer(page.error()));
    wire::Json blobs = wire::Json::array();
    for (const ports::BlobInfo& blob : page->blobs)
        blobs.append(wire::Json::object({{"name", blob.name}, {"bytes", blob.bytes}}));
    wire::Json body = wire::Json::object({{"blobs", std::move(blobs)}});
    if (!page->next_marker.empty()) body.set("next", page->next_marker);
    responder.respond(
        {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = body.dump()});
}

void AgentHub::get_blob(const Route& route, ports::Responder& responder) {
    if (!tasks_.may_read(route.node, route.container, route.path))
        return responder.respond(answer(403, "no task on this node needs '" + route.path + "'"));
    job_files_.refresh(route.container, route.path);
    const Result<std::optional<ports::OpenBlob>> blob = ports_.blobs.open(route.container, route.path);
    if (!blob) return responder.respond(answer(blob.error()));
    if (!*blob) return responder.respond(answer(404, "there is no blob '" + route.path + "'"));
    responder.respond({.status = 200,
                       .headers = {{"Content-Type", "application/octet-stream"}},
                       .file = ports::FileBody{.bytes = (*blob)->info.bytes, .file = (*blob)->file}});
}

// The task on whose behalf this node may stage this very file.
std::optional<HeldTask> AgentHub::staging_task(const Route& route) {
    std::optional<HeldTask> task = tasks_.find_attempt(route.job, route.attempt, route.node);
    if (!task || !TaskTable::may_write(*task, route.container, route.path)) return std::nullopt;
    return task;
}

void AgentHub::stage(ports::HttpRequest request, const Route& route,
                     std::shared_ptr<ports::Responder> responder) {
    if (!staging_task(route))
        return responder->respond(answer(403, "this node has no task that may write '" + route.path + "'"));
    const std::string name = std::string(ports::kStagingFolder) + "/" +
                             app::staging_folder_of(route.job, route.attempt) + "/" + route.path;
    // Syncing takes its time: not on an I/O thread.
    logs_.run([this, route, name, container = route.container, body = std::move(request.body),
               file = std::move(request.body_file), responder = std::move(responder)] {
        if (!staging_task(route))  // It was over while this waited: what it staged may be gone already.
            return responder->respond(answer(403, "the task is over"));
        const Result<ports::BlobInfo> stored = file.empty()
                                                   ? ports_.blobs.put_bytes(container, name, body)
                                                   : ports_.blobs.put(container, name, file, {}, false);
        responder->respond(stored ? ports::HttpResponse{.status = 201} : answer(stored.error()));
    });
}

LogSource::Watch AgentHub::watch(const std::string& workspace, const std::string& job,
                                 std::function<void()> grown) {
    return logs_.watch(workspace, job, std::move(grown));
}

void AgentHub::unwatch(Watch watch) { logs_.unwatch(watch); }

// --- sockets ---

namespace {

constexpr std::size_t kTasksInHelloMax = 4096;
constexpr std::size_t kShortTextMax = 1024;
constexpr std::int64_t kRanMicrosMax = 10LL * 365 * 24 * 3600 * 1'000'000;
constexpr std::size_t kMessageMax = 8192;

// Enumerators come as plain numbers: those we do not know are refused, and texts are kept to a sane length.
bool is_sound(TaskReport& report) {
    report.ran_micros = std::clamp<std::int64_t>(report.ran_micros, 0, kRanMicrosMax);
    report.end.message.resize(std::min(report.end.message.size(), kMessageMax));
    report.end.traceback_line.resize(std::min(report.end.traceback_line.size(), kShortTextMax));
    report.end.error_code.resize(std::min(report.end.error_code.size(), kShortTextMax));
    if (report.end.log.size() > limits::kReportedLogBytes) return false;
    if (report.task.attempt != 1 || report.task.index != 0) report.end.log.clear();
    return report.phase <= TaskPhase::Ended && report.end.reason <= EndReason::Preempted && report.task.job &&
           report.task.attempt > 0 && report.task.index >= 0;
}

bool is_sound(Hello& hello) {
    if (hello.protocol != kAgentProtocol || hello.tasks.size() > kTasksInHelloMax) return false;
    for (std::string* text : {&hello.boot, &hello.host, &hello.protections})
        text->resize(std::min(text->size(), kShortTextMax));
    return std::ranges::all_of(hello.tasks, [](TaskReport& report) { return is_sound(report); });
}

}  // namespace

class AgentHub::ControlSocket final : public ports::SocketHandler {
 public:
    ControlSocket(AgentHub& hub, NodeId node) : hub_(hub), node_(node) {}
    void opened(std::shared_ptr<ports::SocketPeer> peer) override { peer_ = std::move(peer); }
    void received(std::string frame) override {
        Result<FromAgent> message = wire::decode_from_agent(frame);
        if (!message || !take(*message)) {
            log(Level::Warning, "agent_link_closed", {{"node", to_string(node_)}});
            peer_->close();
        }
    }
    void closed() override {
        if (link_ != 0) hub_.link_down(node_, link_);
    }

 private:
    bool take(FromAgent& message) {
        if (auto* hello = std::get_if<Hello>(&message)) {
            if (link_ != 0 || hello->node != node_ || !is_sound(*hello)) return false;
            link_ = hub_.link_up(node_, peer_, std::move(*hello));
            return link_ != 0;
        }
        if (link_ == 0) return false;
        if (const auto* beat = std::get_if<Heartbeat>(&message))
            return hub_.post(plane::NodeHeard{node_, link_, beat->number});
        if (auto* report = std::get_if<TaskReport>(&message))
            return is_sound(*report) && hub_.post(plane::TaskReported{node_, link_, std::move(*report)});
        return false;
    }
    AgentHub& hub_;
    const NodeId node_;
    std::uint64_t link_ = 0;                   // 0 before the Hello
    std::shared_ptr<ports::SocketPeer> peer_;  // the server's, shared with every sender
};

class AgentHub::BulkSocket final : public ports::SocketHandler {
 public:
    BulkSocket(AgentHub& hub, NodeId node) : hub_(hub), node_(node) {}
    void opened(std::shared_ptr<ports::SocketPeer> peer) override { peer_ = std::move(peer); }
    void received(std::string frame) override {
        Result<FromAgent> message = wire::decode_from_agent(frame);
        auto* bytes = message ? std::get_if<LogBytes>(&*message) : nullptr;
        const bool sound = bytes != nullptr && bytes->offset < (1ULL << 60);
        const auto durable = [peer = peer_](LogDurable answer) {
            peer->send(wire::encode_frame(ToAgent{answer}));
        };
        if (!sound || !hub_.logs_.write(node_, std::move(*bytes), durable)) peer_->close();
    }
    void closed() override {}

 private:
    AgentHub& hub_;
    const NodeId node_;
    std::shared_ptr<ports::SocketPeer> peer_;  // the server's, shared with the log writer
};

tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> AgentHub::accept_socket(
    const ports::HttpRequest& head) {
    const std::optional<Route> route = parse_route(head);
    const bool control = route && route->verb == "control" && route->container.empty();
    const bool bulk = route && route->verb == "bulk" && route->container.empty();
    if (!control && !bulk) return tl::make_unexpected(answer(404, "there is no such WebSocket for nodes"));
    if (auto refusal = refuse(head, route->node)) return tl::make_unexpected(std::move(*refusal));
    if (control) return std::make_unique<ControlSocket>(*this, route->node);
    return std::make_unique<BulkSocket>(*this, route->node);
}

}  // namespace lavant::api

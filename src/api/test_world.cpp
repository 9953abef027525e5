#include "api/test_world.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <variant>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "api/first_run.h"
#include "api/workspaces.h"
#include "base/check.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {
namespace {

std::string make_folder() {
    std::string pattern = testing::TempDir() + "lavant-api-XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr, "tests need a temporary folder");
    return pattern;
}

}  // namespace

std::unique_ptr<ports::BlobStore> make_test_blobs(const std::string& folder) {
    auto blobs = adapters::FsBlobStore::open(folder);
    CHECK(blobs.has_value(), "tests need a blob store");
    return std::move(*blobs);
}

wire::Json json_of(const ports::HttpResponse& response) {
    auto json = wire::parse_json(response.body);
    EXPECT_TRUE(json) << response.status << " " << response.body;
    return json ? *json : wire::Json();
}

void Caught::respond(ports::HttpResponse answer) {
    ++answers;
    response = std::move(answer);
}

std::shared_ptr<ports::ResponseStream> Caught::stream(ports::HttpResponse head) {
    is_stream = true;
    respond(std::move(head));
    return self.lock();
}

TestWorld::TestWorld() : folder(make_folder()) {
    auto crypto = adapters::OpensslCrypto::load(folder + "/secret.key");
    CHECK(crypto.has_value(), "tests need crypto");
    crypto_ = std::move(*crypto);
    blobs_ = make_test_blobs(folder + "/blobs");
}

TestWorld::~TestWorld() {
    api_.reset();
    static_cast<void>(remove_tree(folder));
}

void TestWorld::write(std::vector<AssetWrite> writes) {
    WriteBatch batch;
    batch.assets = std::move(writes);
    CHECK(store.commit(batch).has_value(), "the memory store commits");
}

Job TestWorld::add_job(const std::string& name, JobStatus status) {
    Job job;
    job.head.id = {++last_job_};
    job.head.version = 1;
    job.head.workspace = kDefaultWorkspace;
    job.head.name = name;
    job.head.status = status;
    job.head.attempt = status == JobStatus::Queued ? 0 : 1;
    job.head.submitted_at = clock.at;
    job.meta.display_name = name;
    job.body.properties = R"({"jobType":"Command","properties":{},"services":{}})";
    job.body.experiment = "Default";
    job.body.created_by = "ann";
    WriteBatch batch;
    batch.jobs_added.push_back(job);
    CHECK(store.commit(batch).has_value(), "the memory store commits");
    return job;
}

void TestWorld::publish(const Job& job) {
    HistoryEvent event;
    event.sequence = ++last_event_;
    event.at = clock.at;
    event.workspace = kDefaultWorkspace;
    event.kind = "job";
    event.subject = job.head.name;
    event.job = job.head.id;
    event.what = name_of(job.head.status);
    WriteBatch batch;
    batch.events.push_back(event);
    CHECK(store.commit(batch).has_value(), "the memory store commits");
    feed.publish({event});
}

void TestWorld::set_status(const std::string& name, JobStatus status) {
    Job job = *store.find_job(kDefaultWorkspace, name).value();
    job.head.version += 1;
    job.head.status = status;
    if (is_terminal(status)) job.head.ended_at = clock.at;
    if (status == JobStatus::Failed)
        job.head.error = JobError{"UserError", "the command ended with 3", 3, 0, "node-1", ""};
    WriteBatch batch;
    batch.jobs_changed.push_back(job.head);
    CHECK(store.commit(batch).has_value(), "the memory store commits");
    publish(job);
}

plane::Answer TestWorld::commit(const WriteBatch& batch) {
    CHECK(store.commit(batch).has_value(), "the memory store commits");
    return {};
}

Result<plane::Answer> TestWorld::apply_really(const plane::Event& event) {
    plane::Outcome outcome;
    plane_.apply(event, clock.at, outcome);
    plane_.decide(clock.at, outcome);
    for (HistoryEvent& one : outcome.writes.events) one.sequence = ++last_event_;
    CHECK(store.commit(outcome.writes).has_value(), "the memory store commits");
    CHECK(outcome.replies.size() == 1, "there is one answer");
    return outcome.replies.front().answer;
}

plane::Answer TestWorld::remove_workspace(const plane::DeleteWorkspace& event) {
    WriteBatch batch;
    batch.workspaces_removed.push_back(event.workspace);
    for (const std::string& container : event.containers)
        CHECK(blobs_->remove_container(container).has_value(), "containers can be dropped");
    batch.assets.push_back(event.row);
    return commit(batch);
}

Result<plane::Answer> TestWorld::apply(plane::Event& event) {
    posted.push_back(event);
    if (refuse)
        if (auto why = refuse(event)) return fail(std::move(*why));
    if (std::holds_alternative<plane::PutCompute>(event) ||
        std::holds_alternative<plane::DeleteCompute>(event) ||
        std::holds_alternative<plane::EvictNode>(event))
        return apply_really(event);
    if (auto* submit = std::get_if<plane::SubmitJob>(&event)) {
        const auto existing = store.find_job(submit->job.head.workspace, submit->job.head.name).value();
        if (existing) return plane::Answer{.job = existing, .existed = true};
        Job job = submit->job;
        job.head.id = {++last_job_};
        job.head.version = 1;
        job.head.submitted_at = clock.at;
        WriteBatch batch;
        batch.jobs_added.push_back(job);
        CHECK(store.commit(batch).has_value(), "the memory store commits");
        publish(job);
        return plane::Answer{.job = job};
    }
    if (auto* cancel = std::get_if<plane::CancelJob>(&event)) {
        const auto job = store.find_job(kDefaultWorkspace, cancel->name).value();
        if (!job) return fail(ErrorCode::NotFound, "there is no job '" + cancel->name + "'");
        if (!is_terminal(job->head.status)) set_status(cancel->name, JobStatus::Canceled);
        return plane::Answer{.job = store.find_job(kDefaultWorkspace, cancel->name).value()};
    }
    if (auto* edit = std::get_if<plane::EditJob>(&event)) {
        const auto job = store.find_job(kDefaultWorkspace, edit->name).value();
        if (!job) return fail(ErrorCode::NotFound, "there is no job '" + edit->name + "'");
        WriteBatch batch;
        batch.metas_changed.push_back({job->head.id, edit->meta, edit->properties});
        CHECK(store.commit(batch).has_value(), "the memory store commits");
        return plane::Answer{.job = store.find_job(kDefaultWorkspace, edit->name).value()};
    }
    if (auto* gone = std::get_if<plane::DeleteJob>(&event)) {
        const auto job = store.find_job(kDefaultWorkspace, gone->name).value();
        if (!job) return fail(ErrorCode::NotFound, "there is no job '" + gone->name + "'");
        if (!is_terminal(job->head.status)) return fail(ErrorCode::Conflict, "cancel it first");
        WriteBatch batch;
        batch.jobs_removed.push_back({job->head.id, job->head.version});
        CHECK(store.commit(batch).has_value(), "the memory store commits");
        return plane::Answer{.job = job};
    }
    if (const auto* gone = std::get_if<plane::DeleteWorkspace>(&event)) return remove_workspace(*gone);
    if (auto* assets = std::get_if<plane::WriteAssets>(&event)) {
        WriteBatch batch;
        batch.assets = assets->writes;
        auto written = store.commit(batch);
        if (!written) return fail(written.error());
        return plane::Answer{.assets_written = std::move(*written)};
    }
    if (std::holds_alternative<plane::ExplainJob>(event)) return plane::Answer{.explanation = explanation};
    WriteBatch batch;
    if (auto* quota = std::get_if<plane::SetQuota>(&event)) {
        batch.quotas.push_back(quota->quota);
        return commit(batch);
    }
    if (auto* put = std::get_if<plane::PutLock>(&event)) {
        batch.locks.push_back({put->lock, false});
        return commit(batch);
    }
    if (auto* gone = std::get_if<plane::DeleteLock>(&event)) {
        batch.locks.push_back({{.scope = gone->scope, .name = gone->name}, true});
        return commit(batch);
    }
    return fail(ErrorCode::Internal, "the stand-in does not know this event");
}

bool TestWorld::post(plane::Event event, const Done& done) {
    if (inbox_full) return false;
    done(apply(event));
    return true;
}

// kWs is another name of what tests put into the store themselves.
void TestWorld::add_workspace() {
    WriteBatch batch;
    batch.assets.push_back(workspace_row({.key = kDefaultWorkspace,
                                          .id = "4d3c2b1a-0000-0000-0000-000000000001",
                                          .name = {"s1", "g1", "w1"},
                                          .location = "local",
                                          .created_by = "ann",
                                          .created_at = clock.now()},
                                         0, clock.now()));
    commit(batch);
}

Api& TestWorld::api() {
    if (api_) return *api_;
    const FirstRunPorts first{store, store, *blobs_, *crypto_, clock};
    const std::string key_file = folder + "/owner.key";
    CHECK(ensure_first_key(first, key_file, "ann").has_value(), "the first key can be made");
    owner_key = std::string(trim(read_file(key_file, 4096).value()));
    ApiSettings settings;
    settings.base_url = "https://127.0.0.1:8443";
    settings.secret = crypto_->secret();
    CHECK(ensure_workspace(first).has_value(), "the first workspace can be made");
    add_workspace();
    settings.data_folder = folder;
    settings.free_bytes_min = free_bytes_min;
    settings.sdk_settle = sdk_settle;
    settings.retired_sizes = retired_sizes;
    settings.capacity = capacity;
    ApiPorts ports{store,
                   *blobs_,
                   *crypto_,
                   clock,
                   feed,
                   [this](plane::Event event, const Done& done) { return post(std::move(event), done); },
                   [] {
                       return app::LoopStats{.batches = 7, .census = {.queued_by_reason = {{"quota", 2}}}};
                   },
                   nullptr,
                   [this](const std::function<void()>& work) {
                       ++ran_slowly;
                       work();
                   }};
    api_ = std::make_unique<Api>(std::move(ports), std::move(settings));
    return *api_;
}

std::map<std::string, std::string> TestWorld::as(const std::string& user, Role role) {
    NewKey made = api().access().make_key("key-" + user, {.user = user, .role = role});
    write({made.write});
    return {{"Authorization", "Bearer " + made.plain}};
}

std::shared_ptr<Caught> TestWorld::start(const Ask& ask) {
    api();
    ports::HttpRequest request;
    request.method = ask.method;
    const std::size_t mark = ask.target.find('?');
    request.path = ask.target.substr(0, mark);
    if (mark != std::string::npos) request.query = ask.target.substr(mark + 1);
    for (const auto& header : ask.headers) request.headers.emplace_back(header);
    if (ask.as_owner && !ask.headers.contains("Authorization"))
        request.headers.emplace_back("Authorization", "Bearer " + owner_key);
    const ports::BodyPlan plan = api().plan_body(request);
    request.body_bytes = ask.body.size();
    auto caught = std::make_shared<Caught>();
    caught->self = caught;
    if (ask.body.size() > plan.bytes_max) {
        caught->response.status = 413;
        caught->answers = 1;
        return caught;
    }
    if (plan.to_file) {
        request.body_file = blobs_->temporary_folder() + "/upload-" + to_hex(crypto_->random_bytes(8));
        CHECK(write_file_atomically(request.body_file, ask.body).has_value(), "a body can be spooled");
    } else {
        request.body = ask.body;
    }
    api().handle(std::move(request), caught);
    return caught;
}

ports::HttpResponse TestWorld::call(const Ask& ask) {
    const auto caught = start(ask);
    EXPECT_EQ(caught->answers, 1) << ask.method << " " << ask.target;
    return caught->response;
}

std::string TestWorld::body_of(const ports::HttpResponse& response) {
    if (!response.file) return response.body;
    const std::string path = response.file->file
                                 ? "/proc/self/fd/" + std::to_string(response.file->file->get())
                                 : response.file->path;
    const std::string whole = read_file(path, 64U << 20).value();
    return whole.substr(response.file->offset, response.file->bytes);
}

}  // namespace lavant::api

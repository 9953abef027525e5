#include "api/job_wait.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/followers.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::int64_t kSecondsMax = 600;
constexpr std::int64_t kSecondsDefault = 60;

class JobWait final : public Follower {
 public:
    JobWait(Context& context, SharedCall call, std::string name, Instant deadline)
        : context_(context), call_(std::move(call)), name_(std::move(name)), deadline_(deadline) {}

    void watch(app::EventFeed::Subscription subscription) {
        subscription_.store(subscription);
        if (answered_.load())
            context_.ports.feed.unsubscribe(subscription);  // it ended before we knew the number
    }

    void told(const HistoryEvent& event) {
        const auto status = parse_job_status(event.what);
        if (!status || !is_terminal(*status)) return;
        // The error is worth a read; the common end is not.
        if (*status == JobStatus::Completed) return finish(view(*status, nullptr));
        look();
    }

    // Reads the job and answers if it has ended or is unknown.
    void look() {
        const auto job = context_.ports.reader.find_job(call_->workspace, name_);
        if (!job) return finish(error_response(job.error()));
        if (!*job)
            return finish(error_response({ErrorCode::NotFound, "there is no job '" + name_ + "'", {}}));
        const JobHead& head = (*job)->head;
        if (is_terminal(head.status)) finish(view(head.status, &head));
    }

    bool tick(Instant now) override {
        if (answered_.load()) return false;
        if (now < deadline_) return true;
        const auto job = context_.ports.reader.find_job(call_->workspace, name_);
        if (job && *job) finish(view((*job)->head.status, &(*job)->head));
        finish(error_response({ErrorCode::Unavailable, "cannot read job '" + name_ + "'; try again", {}}));
        return false;
    }
    Duration patience(Instant now) const override { return deadline_ - now; }
    void close() override {
        finish(error_response({ErrorCode::Unavailable, "the server stops; ask again in a moment", {}}));
    }

 private:
    ports::HttpResponse view(JobStatus status, const JobHead* head) const {
        std::string body = R"({"name":)" + json_quote(name_) + R"(,"status":")" +
                           std::string(name_of(status)) + R"(","terminal":)" +
                           (is_terminal(status) ? "true" : "false") + R"(,"error":)";
        if (head != nullptr && head->error) {
            body += R"({"code":)" + json_quote(head->error->code) + R"(,"message":)" +
                    json_quote(head->error->message) + R"(,"exitCode":)" +
                    std::to_string(head->error->exit_code) + "}";
        } else {
            body += "null";
        }
        return json_response(200, body + "}");
    }

    void finish(ports::HttpResponse response) {
        if (answered_.exchange(true)) return;
        if (const auto subscription = subscription_.load(); subscription != 0)
            context_.ports.feed.unsubscribe(subscription);
        call_->respond(std::move(response));
    }

    Context& context_;
    SharedCall call_;
    std::string name_;
    Instant deadline_;
    std::atomic<app::EventFeed::Subscription> subscription_{0};
    std::atomic<bool> answered_{false};
};

}  // namespace

void start_job_wait(Context& context, const SharedCall& call) {
    const std::string name = call->param("name");
    const auto asked = call->request.query_value("timeout_s");
    const std::int64_t seconds =
        asked ? std::clamp<std::int64_t>(parse_integer(*asked).value_or(kSecondsDefault), 0, kSecondsMax)
              : kSecondsDefault;
    const Instant deadline = context.ports.clock.now() + std::chrono::seconds(seconds);
    auto wait = std::make_shared<JobWait>(context, call, name, deadline);
    const auto subscription = context.ports.feed.subscribe(
        call->workspace, name, [wait](const HistoryEvent& event) { wait->told(event); });
    if (!subscription) return call->respond(error_response(subscription.error()));
    wait->watch(*subscription);
    wait->look();
    if (wait->tick(context.ports.clock.now())) context.followers->add(std::move(wait));
}

}  // namespace lavant::api

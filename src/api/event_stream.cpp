#include "api/event_stream.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <utility>

#include "api/answers.h"
#include "api/followers.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr int kPage = 1000;
constexpr int kPagesMax = 10;  // then the stream ends and the client comes back with the last id
constexpr std::size_t kBufferedEventsMax = 10'000;
constexpr std::size_t kBytesWaitingMax = 4U << 20;  // a client further behind than this has to come back
constexpr Duration kKeepAlive = std::chrono::seconds(15);

std::string frame_of(const HistoryEvent& event) {
    return "id: " + std::to_string(event.sequence) + "\nevent: " + event.kind +
           "\ndata: {\"sequence\":" + std::to_string(event.sequence) + ",\"at\":\"" + to_rfc3339(event.at) +
           "\",\"kind\":" + json_quote(event.kind) + ",\"subject\":" + json_quote(event.subject) +
           ",\"what\":" + json_quote(event.what) + ",\"detail\":" + json_quote(event.detail) + "}\n\n";
}

// Tells a client that comes back after too long that it has missed something: what it knows, it must ask
// anew.
std::string reset_frame(std::int64_t oldest) {
    return "id: " + std::to_string(oldest - 1) +
           "\nevent: reset\ndata: {\"oldest\":" + std::to_string(oldest) + "}\n\n";
}

class EventStream final : public Follower {
 public:
    EventStream(Context& context, const Call& call, std::shared_ptr<ports::ResponseStream> stream,
                std::int64_t after)
        : context_(context),
          workspace_(call.workspace),
          stream_(std::move(stream)),
          last_(after),
          spoke_at_(context.ports.clock.now()) {}

    void watch(app::EventFeed::Subscription subscription) {
        const std::lock_guard lock(mutex_);
        subscription_ = subscription;
        if (done_) context_.ports.feed.unsubscribe(subscription);
    }

    void told(const HistoryEvent& event) {
        const std::lock_guard lock(mutex_);
        if (done_) return;
        if (!replaying_) return send(event);
        if (buffered_.size() >= kBufferedEventsMax) return end();
        buffered_.push_back(event);
    }

    void replay(const std::vector<HistoryEvent>& events) {
        const std::lock_guard lock(mutex_);
        for (const HistoryEvent& event : events) send(event);
    }
    // As replay(), of events that follow each other without a gap unless some are no longer kept.
    void replay_all(const std::vector<HistoryEvent>& events) {
        {
            const std::lock_guard lock(mutex_);
            if (!done_ && !events.empty() && events.front().sequence > last_ + 1) {
                last_ = events.front().sequence - 1;
                stream_->write(reset_frame(events.front().sequence));
            }
        }
        replay(events);
    }

    void go_live() {
        const std::lock_guard lock(mutex_);
        for (const HistoryEvent& event : buffered_) send(event);
        buffered_ = {};
        replaying_ = false;
    }

    bool tick(Instant now) override {
        const std::lock_guard lock(mutex_);
        if (!done_ && stream_->client_is_gone()) end();
        if (!done_ && now - spoke_at_ >= kKeepAlive) {
            stream_->write(": still here\n\n");
            spoke_at_ = now;
        }
        return !done_;
    }
    Duration patience(Instant /*now*/) const override { return std::chrono::seconds(1); }
    void close() override {
        const std::lock_guard lock(mutex_);
        end();
    }
    std::int64_t last() {
        const std::lock_guard lock(mutex_);
        return last_;
    }

 private:
    void send(const HistoryEvent& event) {
        if (done_ || event.sequence <= last_) return;
        if (stream_->bytes_waiting() > kBytesWaitingMax) return end();
        last_ = event.sequence;
        // What belongs to no workspace is for all.
        if (!event.workspace.empty() && event.workspace != workspace_) return;
        spoke_at_ = context_.ports.clock.now();
        stream_->write(frame_of(event));
    }
    void end() {
        if (std::exchange(done_, true)) return;
        stream_->finish();
        context_.ports.feed.unsubscribe(subscription_);
    }

    Context& context_;
    const std::string workspace_;
    std::shared_ptr<ports::ResponseStream> stream_;
    std::mutex mutex_;  // guards everything below
    app::EventFeed::Subscription subscription_ = 0;
    std::int64_t last_ = 0;
    Instant spoke_at_{};
    bool replaying_ = true;
    bool done_ = false;
    std::vector<HistoryEvent> buffered_;
};

// False: there is more than one answer should carry.
bool replay_all(Context& context, EventStream& stream) {
    for (int page = 0; page < kPagesMax; ++page) {
        const auto events = context.ports.reader.list_events(stream.last(), kPage);
        if (!events) return false;
        stream.replay_all(*events);
        if (events->size() < static_cast<std::size_t>(kPage)) return true;
    }
    return false;
}

bool replay_job(Context& context, EventStream& stream, JobId job) {
    const auto events = context.ports.reader.list_job_events(job);
    if (!events) return false;
    stream.replay(*events);
    return true;
}

}  // namespace

void start_event_stream(Context& context, const SharedCall& call) {
    const std::string name = call->param("name");
    std::optional<Job> job;
    if (!name.empty()) {
        auto found = context.ports.reader.find_job(call->workspace, name);
        if (!found) return call->respond(error_response(found.error()));
        if (!*found)
            return call->respond(error_response({ErrorCode::NotFound, "there is no job '" + name + "'", {}}));
        job = std::move(*found);
    }
    std::string asked(call->request.header("Last-Event-ID"));
    if (asked.empty()) asked = call->request.query_value("after").value_or("");
    const auto after = parse_integer(asked);
    if (!asked.empty() && (!after || *after < 0))
        return call->respond(
            error_response({ErrorCode::InvalidArgument, "Last-Event-ID is not a number", {}}));

    ports::HttpResponse head;
    head.headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
    auto stream = std::make_shared<EventStream>(context, *call, call->responder->stream(std::move(head)),
                                                after.value_or(0));
    const auto subscription = context.ports.feed.subscribe(
        call->workspace, name, [stream](const HistoryEvent& event) { stream->told(event); });
    if (!subscription) return stream->close();
    stream->watch(*subscription);
    // Without a place to start from, all events means those to come; of one job it means its whole life.
    const bool replayed =
        job ? replay_job(context, *stream, job->head.id) : !after || replay_all(context, *stream);
    if (!replayed) return stream->close();
    stream->go_live();
    context.followers->add(std::move(stream));
}

}  // namespace lavant::api

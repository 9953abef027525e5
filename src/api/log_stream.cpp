#include "api/log_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "api/answers.h"
#include "api/followers.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::size_t kChunk = 256U << 10;
// Read and not yet taken by its client: of one stream, and of all together where there are many.
constexpr std::size_t kBytesWaitingMin = 32U << 10;
constexpr std::size_t kBytesWaitingMax = 4U << 20;
constexpr std::size_t kBytesWaitingAll = 32U << 20;
constexpr Duration kPoll = std::chrono::milliseconds(50);

constexpr std::string_view kLogFolder = "user_logs/";

// The log of a job is what its attempts wrote, one after the other: user_logs/attempt_1/std_log.txt and so
// on, then user_logs/std_log.txt. A job of several processes has one for each; the first one's is shown.
struct Place {
    std::string container;
    std::string folder;  // of the job
    std::string file;    // one file only, below `folder`; "" for the job's log
    std::uint64_t offset = 0;
};

std::string shown_below(const Place& place) {
    return place.folder + (place.file.empty() ? std::string(kLogFolder) : place.file);
}

std::optional<ports::BlobInfo> find_any(Context& context, const std::string& container,
                                        const std::string& folder) {
    for (const char* name : {"std_log.txt", "std_log_process_0.txt"}) {
        auto found = context.ports.blobs.find(container, folder + name);
        if (found && *found) return std::move(*found);
    }
    return std::nullopt;
}

std::optional<ports::BlobInfo> find_current(Context& context, const Place& place) {
    if (place.file.empty()) return find_any(context, place.container, place.folder + std::string(kLogFolder));
    auto found = context.ports.blobs.find(place.container, place.folder + place.file);
    return found ? std::move(*found) : std::nullopt;
}

// Of an attempt that is over, and followed by another.
std::optional<ports::BlobInfo> find_aside(Context& context, const Place& place, int attempt) {
    if (!place.file.empty()) return std::nullopt;
    return find_any(context, place.container,
                    place.folder + std::string(kLogFolder) + "attempt_" + std::to_string(attempt) + "/");
}

class LogStream final : public Follower {
 public:
    LogStream(Context& context, std::shared_ptr<ports::ResponseStream> stream, Place place)
        : context_(context),
          stream_(std::move(stream)),
          pump_(context.followers->pump()),
          place_(std::move(place)) {}

    void watch(app::EventFeed::Subscription subscription, LogSource::Watch watch) {
        const std::lock_guard lock(mutex_);
        subscription_ = subscription;
        watch_ = watch;
        if (done_) stop_watching();
    }

    // Of these two the caller may be the control loop: they read nothing and wait for nobody.
    static void told(const std::shared_ptr<LogStream>& stream, const HistoryEvent& event) {
        const auto status = parse_job_status(event.what);
        if (!status || (!is_terminal(*status) && *status != JobStatus::Queued)) return;
        if (is_terminal(*status)) stream->terminal_ = true;
        stream->attempt_ended_ = true;
        wake(stream);
    }
    static void wake(const std::shared_ptr<LogStream>& stream) {
        if (stream->woken_.exchange(true)) return;
        const bool queued = stream->pump_->post([stream] {
            stream->woken_ = false;
            const std::lock_guard lock(stream->mutex_);
            stream->pump();
        });
        if (!queued) stream->woken_ = false;  // The next tick serves.
    }
    void set_terminal() { terminal_ = true; }

    bool tick(Instant /*now*/) override {
        const std::lock_guard lock(mutex_);
        if (!done_ && stream_->client_is_gone()) end();
        pump();
        return !done_;
    }
    Duration patience(Instant /*now*/) const override {
        const std::lock_guard lock(mutex_);
        // Told of growth, it need not look by itself, unless the client is what it waits for.
        return context_.ports.logs != nullptr && !behind_ ? Duration(std::chrono::seconds(1)) : kPoll;
    }
    void close() override {
        const std::lock_guard lock(mutex_);
        end();
    }

 private:
    void pump() {
        if (done_) return;
        const bool terminal = terminal_;  // asked first: what was written before the end is seen below
        behind_ = false;
        // A short log comes with the end of its attempt, and its file only with a look.
        if (attempt_ended_.exchange(false)) context_.job_files.refresh(place_.container, shown_below(place_));
        while (!behind_) {
            auto blob = find_aside(context_, place_, attempt_);
            if (!blob) {
                blob = find_current(context_, place_);
                // Set aside while we looked: then this one is the next attempt's already.
                if (!find_aside(context_, place_, attempt_)) {
                    if (blob) send_from(*blob);
                    break;
                }
                continue;
            }
            if (place_.offset < blob->bytes) send_from(*blob);
            if (behind_ || place_.offset < blob->bytes) break;
            place_.offset -= blob->bytes;
            ++attempt_;
        }
        if (terminal && !behind_) end();
    }

    void send_from(const ports::BlobInfo& blob) {
        const auto file =
            open_file(context_.ports.blobs.path_of(place_.container, blob.name), O_RDONLY | O_CLOEXEC);
        struct stat facts {};
        if (!file || ::fstat(file->get(), &facts) != 0) return;
        const auto bytes = static_cast<std::uint64_t>(facts.st_size);
        const std::size_t window = std::clamp(kBytesWaitingAll / (context_.followers->count() + 1),
                                              kBytesWaitingMin, kBytesWaitingMax);
        while (place_.offset < bytes) {
            const std::size_t waiting = stream_->bytes_waiting();
            if (waiting >= window) {
                behind_ = true;
                return;
            }
            const std::size_t room = std::min(kChunk, window - waiting);
            std::string chunk(std::min<std::uint64_t>(room, bytes - place_.offset), '\0');
            const ssize_t got =
                ::pread(file->get(), chunk.data(), chunk.size(), static_cast<off_t>(place_.offset));
            if (got <= 0) return;
            chunk.resize(static_cast<std::size_t>(got));
            place_.offset += chunk.size();
            stream_->write(std::move(chunk));
        }
    }

    void end() {
        if (std::exchange(done_, true)) return;
        stream_->finish();
        stop_watching();
    }
    void stop_watching() {
        context_.ports.feed.unsubscribe(subscription_);
        if (watch_ != 0) context_.ports.logs->unwatch(watch_);
    }

    Context& context_;
    std::shared_ptr<ports::ResponseStream> stream_;
    const std::shared_ptr<Executor> pump_;  // shared with all followers
    std::atomic<bool> terminal_{false};
    std::atomic<bool> attempt_ended_{true};  // perhaps, before we came
    std::atomic<bool> woken_{false};         // a pump is on its way
    mutable std::mutex mutex_;               // guards everything below
    Place place_;                            // its offset is that in the log of attempt_
    int attempt_ = 1;                        // whose log is sent
    app::EventFeed::Subscription subscription_ = 0;
    LogSource::Watch watch_ = 0;
    bool behind_ = false;
    bool done_ = false;
};

// `to_the_end`: until the job has ended; otherwise what is there.
void follow(Context& context, const SharedCall& call, const Place& place, bool to_the_end) {
    const std::string name = call->param("name");
    ports::HttpResponse head;
    head.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}};
    auto stream = std::make_shared<LogStream>(context, call->responder->stream(std::move(head)), place);
    const auto subscription = context.ports.feed.subscribe(
        call->workspace, name, [stream](const HistoryEvent& event) { LogStream::told(stream, event); });
    if (!subscription) return stream->close();
    const LogSource::Watch watch =
        context.ports.logs == nullptr
            ? 0
            : context.ports.logs->watch(call->workspace, name, [stream] { LogStream::wake(stream); });
    stream->watch(*subscription, watch);
    // Read only now: an end committed before this is in the row, one after it comes by the feed.
    const auto job = context.ports.reader.find_job(call->workspace, name);
    if (!to_the_end || !job || !*job || is_terminal((*job)->head.status)) stream->set_terminal();
    if (stream->tick(context.ports.clock.now())) context.followers->add(std::move(stream));
}

ports::HttpResponse whole(Context& context, const Place& place) {
    ports::HttpResponse response = text_response(200, "");
    const auto blob = find_current(context, place);
    if (!blob) return response;  // nothing was written yet
    const std::uint64_t offset = std::min(place.offset, blob->bytes);
    if (offset < blob->bytes)
        response.file = ports::FileBody{context.ports.blobs.path_of(place.container, blob->name), offset,
                                        blob->bytes - offset};
    return response;
}

}  // namespace

void serve_log(Context& context, const SharedCall& call) {
    const std::string& name = call->param("name");
    const auto job = context.ports.reader.find_job(call->workspace, name);
    if (!job) return call->respond(error_response(job.error()));
    if (!*job)
        return call->respond(error_response({ErrorCode::NotFound, "there is no job '" + name + "'", {}}));
    const auto offset = parse_integer(call->request.query_value("offset").value_or("0"));
    if (!offset || *offset < 0)
        return call->respond(
            error_response({ErrorCode::InvalidArgument, "offset must be a number from 0 on", {}}));
    Place place{artifact_container(call->workspace), artifact_prefix(name),
                call->request.query_value("file").value_or(""), static_cast<std::uint64_t>(*offset)};
    if (!place.file.empty()) {
        const auto possible = context.ports.blobs.find(place.container, place.folder + place.file);
        if (!possible) return call->respond(error_response(possible.error()));
    }
    const std::string asked = call->request.query_value("follow").value_or("0");
    const bool to_the_end = asked == "1" || asked == "true";
    if (!to_the_end) {
        context.job_files.refresh(place.container, shown_below(place));
        if (!find_aside(context, place, 1)) return call->respond(whole(context, place));
    }
    follow(context, call, place, to_the_end);
}

}  // namespace lavant::api

#include "agent/transfers.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::agent {
namespace {

constexpr int kInFlightMax = 4;
constexpr int kTriesMax = 600;
constexpr int kWebTriesMax = 20;  // an address of somebody else's that does not answer is most likely wrong
constexpr Duration kPause = std::chrono::seconds(1);
constexpr std::size_t kFilesMax = 200'000;
constexpr std::uint64_t kBytesMax = 1ULL << 40;

bool may_pass(const Result<ports::HttpResponse>& answer) {
    if (!answer) return answer.error().code == ErrorCode::Unavailable;
    const int status = answer->status;
    return status == 429 || status == 500 || (status >= 502 && status <= 504) || status == 507;
}

bool is_absent(const Result<ports::HttpResponse>& answer) { return answer && answer->status == 404; }

Result<void> verdict(const Result<ports::HttpResponse>& answer, const std::string& attempted) {
    if (!answer) return fail(answer.error());
    if (answer->status / 100 == 2) return {};
    const ErrorCode code = answer->status == 404   ? ErrorCode::NotFound
                           : answer->status == 403 ? ErrorCode::PermissionDenied
                                                   : ErrorCode::Internal;
    std::string why = answer->status == 404 ? "it does not exist"
                                            : "the answer was " + std::to_string(answer->status) + " " +
                                                  std::string(trim(answer->body.substr(0, 300)));
    return fail(code, attempted + ": " + std::move(why));
}

ports::ClientRequest request_to(const ServerAccess& access, std::string method, const std::string& route) {
    return {.method = std::move(method),
            .url = access.routes + route,
            .headers = {{"Authorization", "Bearer " + access.credential}},
            .timeout_s = 0};
}

// What a person calls it: the path of a blob rather than the route to it.
std::string shown_place(const ServerAccess& access, const std::string& url) {
    const std::string blobs = access.routes + "/blobs/";
    if (!url.starts_with(blobs)) return percent_decode(url);
    const std::size_t slash = url.find('/', blobs.size());
    return slash == std::string::npos ? percent_decode(url) : percent_decode(url.substr(slash + 1));
}

int tries_max(const ports::ClientRequest& request) {
    return request.url.starts_with("/") ? kTriesMax : kWebTriesMax;
}

}  // namespace

std::string encode_path(std::string_view path) {
    std::string encoded;
    for (const std::string_view part : split(path, '/')) {
        if (!encoded.empty() || part.data() != path.data()) encoded += '/';
        encoded += percent_encode(part);
    }
    return encoded;
}

bool is_inner_path(std::string_view path) {
    if (path.empty() || path.size() > 4000 || path.find('\0') != std::string_view::npos) return false;
    return std::ranges::all_of(split(path, '/'), [](std::string_view part) {
        return !part.empty() && part != "." && part != ".." && part.size() <= 255;
    });
}

// --- Transfer ---

Transfer::Transfer(ServerAccess access, std::deque<ports::ClientRequest> requests, TransferDone done,
                   bool skip_absent)
    : access_(std::move(access)),
      waiting_(std::move(requests)),
      done_(std::move(done)),
      skip_absent_(skip_absent) {}

void Transfer::start() { pump(); }

void Transfer::pump() {
    while (!over_ && in_flight_ < kInFlightMax && !waiting_.empty()) {
        const ports::ClientRequest request = std::move(waiting_.front());
        waiting_.pop_front();
        ++in_flight_;
        send(request, 0);
    }
    if (!over_ && in_flight_ == 0 && waiting_.empty()) finish({});
}

void Transfer::send(const ports::ClientRequest& request, int tries) {
    access_.wire.send(request, [self = weak_from_this(), request, tries](Result<ports::HttpResponse> answer) {
        if (const auto alive = self.lock()) alive->answered(request, tries, answer);
    });
}

void Transfer::answered(const ports::ClientRequest& request, int tries,
                        const Result<ports::HttpResponse>& answer) {
    if (over_) return;
    if (may_pass(answer) && tries < tries_max(request)) {
        access_.reactor.after(kPause, [self = weak_from_this(), request, tries] {
            if (const auto alive = self.lock()) alive->send(request, tries + 1);
        });
        return;
    }
    --in_flight_;
    if (skip_absent_ && is_absent(answer)) return pump();
    const std::string attempted = request.method == "PUT" ? "cannot store '" : "cannot fetch '";
    Result<void> result = verdict(answer, attempted + shown_place(access_, request.url) + "'");
    if (!result) return finish(std::move(result));
    pump();
}

void Transfer::finish(Result<void> result) {
    over_ = true;
    const TransferDone done = std::exchange(done_, {});
    if (done) done(std::move(result));
}

// --- Download ---

Download::Download(ServerAccess access, std::vector<Fetch> fetches, TransferDone done)
    : access_(std::move(access)), fetches_(std::move(fetches)), done_(std::move(done)) {}

void Download::start() { next(); }

void Download::next() {
    if (at_ == fetches_.size()) return finish({});
    const Fetch& fetch = fetches_[at_];
    if (const Result<void> made = make_directories(fetch.into); !made) return finish(made);
    files_.clear();
    tries_ = 0;
    if (fetch.kind == Fetch::Kind::Folder) return list("");
    ports::ClientRequest request;
    if (fetch.kind == Fetch::Kind::Web) {
        request = {.method = "GET", .url = fetch.url};
    } else {
        request = request_to(
            access_, "GET",
            "/blobs/" + percent_encode(fetch.place.container) + "/" + encode_path(fetch.place.path));
    }
    request.response_file = fetch.into + "/" + fetch.file;
    files_.push_back(std::move(request));
    fetch_files();
}

void Download::list(std::string marker) {
    const Fetch& fetch = fetches_[at_];
    marker_ = std::move(marker);
    std::string prefix = fetch.place.path;
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    access_.wire.send(request_to(access_, "GET",
                                 "/blobs/" + percent_encode(fetch.place.container) + "?prefix=" +
                                     percent_encode(prefix) + "&marker=" + percent_encode(marker_)),
                      [self = weak_from_this()](Result<ports::HttpResponse> answer) {
                          if (const auto alive = self.lock()) alive->listed(answer);
                      });
}

void Download::listed(const Result<ports::HttpResponse>& answer) {
    const Fetch& fetch = fetches_[at_];
    if (may_pass(answer) && ++tries_ < kTriesMax) {
        access_.reactor.after(kPause, [self = weak_from_this()] {
            if (const auto alive = self.lock()) alive->list(alive->marker_);
        });
        return;
    }
    if (fetch.if_there && is_absent(answer)) return fetched_one();
    Result<void> good = verdict(answer, "cannot list " + fetch.what);
    if (good) good = add_listed(answer->body);
    if (!good) return finish(std::move(good));
    if (!marker_.empty()) return list(marker_);
    if (!files_.empty()) return fetch_files();
    if (fetch.if_there) return fetched_one();
    // Not a folder: a model or table may be a single file of that name.
    std::string_view path = fetch.place.path;
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.empty()) return finish(fail(ErrorCode::NotFound, fetch.what + " is an empty folder"));
    files_.push_back(request_to(access_, "GET",
                                "/blobs/" + percent_encode(fetch.place.container) + "/" + encode_path(path)));
    files_.back().response_file = fetch.into + "/" + base_name_of(std::string(path));
    fetch_files();
}

// Turns one page of the listing into requests, and sets the marker of the next page.
Result<void> Download::add_listed(std::string_view body) {
    const Fetch& fetch = fetches_[at_];
    LAVANT_TRY(const wire::Json page, wire::parse_json(body));
    std::string prefix = fetch.place.path;
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    for (const wire::Json& blob : page["blobs"].items()) {
        const std::string name = blob["name"].string();
        bytes_ += static_cast<std::uint64_t>(std::max<std::int64_t>(blob["bytes"].integer(), 0));
        if (!name.starts_with(prefix) || !is_inner_path(std::string_view(name).substr(prefix.size())))
            return fail(ErrorCode::InvalidArgument,
                        fetch.what + " has a file with an impossible name: '" + name + "'");
        if (files_.size() >= kFilesMax || bytes_ > kBytesMax)
            return fail(ErrorCode::ResourceExhausted,
                        fetch.what + " has too many files or bytes for one node; use mode 'direct'");
        ports::ClientRequest request = request_to(
            access_, "GET", "/blobs/" + percent_encode(fetch.place.container) + "/" + encode_path(name));
        request.response_file = fetch.into + "/" + name.substr(prefix.size());
        LAVANT_TRY_VOID(make_directories(parent_of(request.response_file)));
        files_.push_back(std::move(request));
    }
    const std::string next = page["next"].string();
    if (!next.empty() && next == marker_)
        return fail(ErrorCode::Internal, "listing " + fetch.what + " does not end");
    marker_ = next;
    return {};
}

void Download::fetch_files() {
    const auto done = [self = weak_from_this()](Result<void> result) {
        const auto alive = self.lock();
        if (!alive) return;
        const std::string what = alive->fetches_[alive->at_].what;
        if (!result) return alive->finish(result.map_error(in(what)));
        alive->fetched_one();
    };
    transfer_ = std::make_shared<Transfer>(access_, std::exchange(files_, {}), done, fetches_[at_].if_there);
    transfer_->start();
}

void Download::fetched_one() {
    ++at_;
    next();
}

void Download::finish(Result<void> result) {
    const TransferDone done = std::exchange(done_, {});
    if (done) done(std::move(result));
}

std::deque<ports::ClientRequest> staging_requests(const ServerAccess& access, TaskRef task,
                                                  const std::vector<Upload>& uploads) {
    std::deque<ports::ClientRequest> requests;
    const std::string folder =
        "/staging/" + std::to_string(task.job.value) + "/" + std::to_string(task.attempt) + "/";
    for (const Upload& upload : uploads) {
        requests.push_back(request_to(
            access, "PUT",
            folder + percent_encode(upload.place.container) + "/" + encode_path(upload.place.path)));
        requests.back().body_file = upload.file;
    }
    return requests;
}

}  // namespace lavant::agent

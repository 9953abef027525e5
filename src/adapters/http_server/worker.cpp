#include "adapters/http_server/worker.h"

#include <algorithm>
#include <ctime>
#include <exception>

#include "base/check.h"
#include "base/log.h"

namespace lavant::adapters::http {
namespace {

constexpr std::size_t kScratchBytes = 64U << 10;
constexpr int kRefusalsLoggedPerSecond = 10;

// Fine enough for the shortest time-out, and at most once a second.
std::chrono::milliseconds tick_of(const ServerLimits& limits) {
    const Duration least = std::min({limits.head, limits.idle, limits.body, limits.write, limits.ping});
    return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(least / 4),
                      std::chrono::milliseconds{5}, std::chrono::milliseconds{1000});
}

}  // namespace

Worker::Worker(Common& common)
    : common_(common),
      work_(boost::asio::make_work_guard(context_)),
      mailbox_(std::make_shared<Mailbox>(context_)),
      ticker_(context_),
      scratch_(kScratchBytes) {}

Worker::~Worker() { mailbox_->close(); }

void Worker::start() {
    thread_ = std::thread([this] {
        mailbox_->adopt_this_thread();
        try {
            context_.run();
        } catch (const std::exception& problem) {
            log(Level::Error, "io_thread_failed", {{"why", problem.what()}});
            CHECK(false, "an I/O handler lets no exception out");
        }
    });
}

void Worker::finish() {
    mailbox_->deliver([this] {
        mailbox_->close();
        abort_all();
        work_.reset();
    });
    if (thread_.joinable()) thread_.join();
    mailbox_->disown();
}

void Worker::add(std::shared_ptr<Client> client) {
    clients_.insert(std::move(client));
    if (!ticking_) arm_ticker();
}

void Worker::remove(const std::shared_ptr<Client>& client) {
    if (clients_.erase(client) == 0) return;
    if (common_.connections.fetch_sub(1) != 1) return;
    const std::lock_guard lock(common_.mutex);
    common_.all_gone.notify_all();
}

void Worker::replace(const std::shared_ptr<Client>& old, std::shared_ptr<Client> next) {
    CHECK(clients_.erase(old) == 1, "a connection becomes a WebSocket once");
    clients_.insert(std::move(next));
}

template <class Visit>
void Worker::for_each(Visit visit) {
    const std::vector<std::shared_ptr<Client>> now(clients_.begin(), clients_.end());  // a visit may remove
    for (const auto& client : now) visit(*client);
}

void Worker::drain_all() {
    draining_ = true;
    for_each([](Client& client) { client.drain(); });
}

void Worker::abort_all() {
    draining_ = true;
    for_each([](Client& client) { client.abort(); });
    ticker_.cancel();
}

// Runs only while there are connections: an idle server does not wake.
void Worker::arm_ticker() {
    ticking_ = true;
    ticker_.expires_after(tick_of(common_.settings.limits));
    ticker_.async_wait([this](boost::system::error_code problem) {
        ticking_ = false;
        if (problem) return;
        const Tick now = std::chrono::steady_clock::now();
        for_each([now](Client& client) { client.tick(now); });
        if (!clients_.empty()) arm_ticker();
    });
}

std::string_view Worker::http_date() {
    const std::int64_t second = std::time(nullptr);
    if (second != date_second_) {
        date_second_ = second;
        date_ = to_http_date(from_micros(second * 1'000'000));
    }
    return date_;
}

bool Worker::may_log_refusal() {
    const std::int64_t second = std::time(nullptr);
    if (second != refusal_second_) {
        refusal_second_ = second;
        refusals_logged_ = 0;
    }
    return refusals_logged_++ < kRefusalsLoggedPerSecond;
}

}  // namespace lavant::adapters::http

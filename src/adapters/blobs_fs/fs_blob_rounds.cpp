// Puts that come at the same time are made durable together: with one sync, however many they are, where the
// file system syncs in order.

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "adapters/blobs_fs/pending_put.h"

namespace lavant::adapters {

using ports::BlobInfo;

namespace {

constexpr std::size_t kRoundMax = 256;
constexpr auto kPatienceMax = std::chrono::milliseconds(2);

}  // namespace

void FsBlobStore::gather_puts() {
    gathering_ = std::make_unique<Gathering>();
    gathering_->thread = std::thread([this] { run_rounds(); });
}

FsBlobStore::~FsBlobStore() {
    if (!gathering_) return;
    {
        const std::lock_guard lock(gathering_->mutex);
        gathering_->ends = true;
    }
    gathering_->come.notify_one();
    gathering_->thread.join();
}

void FsBlobStore::put_later(ports::BlobPut put, std::function<void(Result<BlobInfo>)> done) {
    if (!gathering_) return done(this->put(put));
    Waiting one;
    one.done = std::move(done);
    // Content in memory is written out by whoever brings it, while an earlier round waits for the disk.
    const bool is_small = put.source.empty();
    one.put = std::move(put);
    if (is_small) {
        one.pending = begin_round(one.put);
        if (!one.pending) return one.done(fail(one.pending.error()));
    }
    bool wake = false;
    {
        const std::lock_guard lock(gathering_->mutex);
        wake = gathering_->waiting.empty();
        gathering_->waiting.push_back(std::move(one));
        wake = wake || gathering_->waiting.size() == gathering_->expected;
    }
    if (wake) gathering_->come.notify_one();
}

// Those who were answered together come again at almost the same time. To wait a moment for all of them costs
// less than a round for the first alone, for which the others would wait.
void FsBlobStore::run_rounds() {
    using Clock = std::chrono::steady_clock;
    std::vector<Waiting> round;
    Clock::duration patience{};
    while (true) {
        {
            std::unique_lock lock(gathering_->mutex);
            const auto has = [this](std::size_t count) {
                return gathering_->ends || gathering_->waiting.size() >= count;
            };
            gathering_->come.wait(lock, [&] { return has(1); });
            if (gathering_->waiting.empty()) return;
            gathering_->come.wait_for(lock, patience, [&] { return has(gathering_->expected); });
            std::swap(round, gathering_->waiting);
            gathering_->expected = round.size();
        }
        const Clock::time_point begun = Clock::now();
        for (std::size_t from = 0; from < round.size(); from += kRoundMax) {
            std::vector<Waiting> part;
            for (std::size_t i = from; i < std::min(round.size(), from + kRoundMax); ++i)
                part.push_back(std::move(round[i]));
            commit_round(part);
        }
        patience = std::min<Clock::duration>(kPatienceMax, (Clock::now() - begun) / 2);
        round.clear();
    }
}

Result<FsBlobStore::Pending> FsBlobStore::begin_round(const ports::BlobPut& put) {
    Result<Pending> pending = prepare(put);
    if (pending) (void)::sync_file_range(pending->file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    return pending;
}

// Where a file system syncs in order, one sync makes sure of every change of names and sizes before it. The
// bytes are written out before the names change, so that no power cut leaves a name without its bytes: when
// the names are committed, so are the sizes, and what the disk was given before is made sure of with them.
void FsBlobStore::commit_round(std::vector<Waiting>& round) {
    for (Waiting& one : round)
        if (!one.pending) one.pending = begin_round(one.put);
    constexpr unsigned int kWait =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    for (Waiting& one : round) {
        if (!one.pending) continue;
        Pending& pending = *one.pending;
        if (pending.in_order && ::sync_file_range(pending.file.get(), 0, 0, kWait) == 0) continue;
        if (auto synced = blobs::sync_fd(pending.file.get(), "blob '" + pending.put.name + "'"); !synced)
            one.pending = fail(synced.error());
    }
    std::map<dev_t, Waiting*> last;
    blobs::UnsyncedFolders rest;  // of those that need a sync each; most blobs of a round share theirs
    for (Waiting& one : round) {
        if (!one.pending) continue;
        if (auto placed = place(*one.pending); !placed) {
            one.pending = fail(placed.error());
        } else if (one.pending->in_order) {
            last[one.pending->status.st_dev] = &one;
        } else {
            rest.take(one.pending->unsynced);
        }
    }
    std::map<dev_t, Error> broken;
    for (const auto& [device, one] : last)
        if (auto synced = one->pending->sync_folders(); !synced) broken.emplace(device, synced.error());
    const Result<void> rest_synced = rest.sync();
    if (!rest_synced) unsettled_ = true;
    for (Waiting& one : round) {
        if (!one.pending) {
            one.done(fail(one.pending.error()));
        } else if (!one.pending->in_order && !rest_synced) {
            one.done(fail(rest_synced.error()));
        } else if (const auto found = broken.find(one.pending->status.st_dev); found != broken.end()) {
            unsettled_ = true;
            one.done(fail(found->second));
        } else {
            one.done(std::move(one.pending->info));
        }
    }
}

}  // namespace lavant::adapters

// Puts that come at the same time are made durable together: their bytes with one wait for the disk, their
// names with a second one, however many they are.

#include <fcntl.h>

#include <map>
#include <utility>

#include "adapters/blobs_fs/pending_put.h"

namespace lavant::adapters {

using ports::BlobInfo;

namespace {

constexpr std::size_t kRoundMax = 256;

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
    bool was_idle = false;
    {
        const std::lock_guard lock(gathering_->mutex);
        was_idle = gathering_->waiting.empty();
        gathering_->waiting.push_back({std::move(put), std::move(done)});
    }
    if (was_idle) gathering_->come.notify_one();
}

void FsBlobStore::run_rounds() {
    std::vector<Waiting> round;
    while (true) {
        {
            std::unique_lock lock(gathering_->mutex);
            gathering_->come.wait(lock, [this] { return gathering_->ends || !gathering_->waiting.empty(); });
            if (gathering_->waiting.empty()) return;
            std::swap(round, gathering_->waiting);
        }
        for (std::size_t from = 0; from < round.size(); from += kRoundMax) {
            std::vector<Waiting> part;
            for (std::size_t i = from; i < std::min(round.size(), from + kRoundMax); ++i)
                part.push_back(std::move(round[i]));
            commit_round(part);
        }
        round.clear();
    }
}

// Where a file system syncs in order, one sync makes sure of every change of names and sizes before it; the
// bytes themselves have to be on their way to the disk by then.
void FsBlobStore::commit_round(std::vector<Waiting>& round) {
    for (Waiting& one : round) {
        one.pending = prepare(one.put);
        if (one.pending) (void)::sync_file_range(one.pending->file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    constexpr unsigned int kWait =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    const auto give_up = [this](Waiting& one, const Error& why) {
        unsettled_ = true;
        one.pending = fail(why);
    };
    std::map<dev_t, Waiting*> last;
    for (Waiting& one : round) {
        if (!one.pending) continue;
        Pending& pending = *one.pending;
        if (pending.in_order && ::sync_file_range(pending.file.get(), 0, 0, kWait) == 0) {
            last[pending.status.st_dev] = &one;
        } else if (auto synced = blobs::sync_fd(pending.file.get(), "blob '" + pending.put.name + "'");
                   !synced) {
            give_up(one, synced.error());
        }
    }
    std::map<dev_t, Error> broken;
    for (const auto& [device, one] : last)
        if (auto synced = blobs::sync_fd(one->pending->file.get(), "a round of blobs"); !synced)
            broken.emplace(device, synced.error());
    last.clear();
    for (Waiting& one : round) {
        if (!one.pending) continue;
        if (const auto found = broken.find(one.pending->status.st_dev); found != broken.end())
            give_up(one, found->second);
        else if (auto placed = place(*one.pending); !placed)
            give_up(one, placed.error());
        else if (one.pending->in_order)
            last[one.pending->status.st_dev] = &one;
        else if (auto synced = one.pending->sync_folders(); !synced)
            give_up(one, synced.error());
    }
    broken.clear();
    for (const auto& [device, one] : last)
        if (auto synced = one->pending->sync_folders(); !synced) broken.emplace(device, synced.error());
    for (Waiting& one : round) {
        if (!one.pending) {
            one.done(fail(one.pending.error()));
        } else if (const auto found = broken.find(one.pending->status.st_dev); found != broken.end()) {
            unsettled_ = true;
            one.done(fail(found->second));
        } else {
            one.done(std::move(one.pending->info));
        }
    }
}

}  // namespace lavant::adapters

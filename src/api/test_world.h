#pragma once
// A world for the tests of this room: a store in memory, real crypto, a clock moved by hand, blobs in a
// temporary folder, and a stand-in for the control loop that commits each event at once. Computes have a
// plane, jobs a stand-in for one.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/memory/memory_store.h"
#include "api/api.h"
#include "app/event_feed.h"
#include "core/plane/plane.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "wire/json.h"

namespace lavant::api {

class HandClock final : public ports::Clock {
 public:
    Instant now() override { return at; }
    Instant at = from_micros(1'790'000'000'000'000);
};

// What a response came to, also for streams.
class Caught final : public ports::Responder, public ports::ResponseStream {
 public:
    void respond(ports::HttpResponse answer) override;
    std::shared_ptr<ports::ResponseStream> stream(ports::HttpResponse head) override;
    void write(std::string bytes) override {
        streamed += bytes;
        written_by = std::this_thread::get_id();
    }
    void finish() override {
        finished = true;
        if (on_finish) on_finish();
    }
    bool client_is_gone() const override { return gone; }
    std::size_t bytes_waiting() const override { return waiting; }

    int answers = 0;
    ports::HttpResponse response;
    std::string streamed;
    bool is_stream = false;
    bool finished = false;
    bool gone = false;
    std::size_t waiting = 0;
    std::thread::id written_by;
    std::function<void()> on_finish;
    std::weak_ptr<Caught> self;
};

struct Ask {
    std::string method = "GET";
    std::string target;  // path and query
    std::string body;
    std::map<std::string, std::string> headers;
    bool as_owner = true;
};

// The blob store of a TestWorld, in its folder.
std::unique_ptr<ports::BlobStore> make_test_blobs(const std::string& folder);

class TestWorld {
 public:
    static constexpr Resources kCapacity{.cpu_millis = 64'000, .memory_bytes = 256LL << 30, .gpus = 2};

    TestWorld();
    ~TestWorld();

    ports::Crypto& crypto() { return *crypto_; }
    ports::BlobStore& blobs() { return *blobs_; }
    void write(std::vector<AssetWrite> writes);
    Job add_job(const std::string& name, JobStatus status);
    void set_status(const std::string& name, JobStatus status);  // committed and published
    bool post(plane::Event event, const Done& done);

    // An Api over all this, with the workspace set up and an owner's key.
    Api& api();
    std::shared_ptr<Caught> start(const Ask& ask);
    ports::HttpResponse call(const Ask& ask);  // fails the test if the answer is not there at once
    std::string body_of(const ports::HttpResponse& response);  // also of a file
    // A key of another user, as an Authorization header.
    std::map<std::string, std::string> as(const std::string& user, Role role);

    HandClock clock;
    adapters::MemoryStore store;
    app::EventFeed feed;
    std::string folder;
    std::string owner_key;
    bool inbox_full = false;
    int ran_slowly = 0;  // what was given to other threads; here it runs at once
    std::function<std::optional<Error>(const plane::Event&)> refuse;  // what the plane would not do
    std::vector<plane::Event> posted;
    plane::Explanation explanation{.text = "it waits for a node"};
    std::uint64_t free_bytes_min = 0;
    Duration sdk_settle{};
    RetiredSizes retired_sizes = RetiredSizes::Substitute;
    Resources capacity = ApiSettings{}.capacity;

 private:
    void add_workspace();
    Result<plane::Answer> apply(plane::Event& event);
    plane::Answer commit(const WriteBatch& batch);
    plane::Answer remove_workspace(const plane::DeleteWorkspace& event);
    Result<plane::Answer> apply_really(const plane::Event& event);
    void publish(const Job& job);

    std::unique_ptr<adapters::OpensslCrypto> crypto_;
    std::unique_ptr<ports::BlobStore> blobs_;
    std::unique_ptr<Api> api_;
    plane::Plane plane_{plane::Settings{.capacity = kCapacity}};  // of computes and nodes alone
    std::int64_t last_job_ = 0;
    std::int64_t last_event_ = 0;
};

// The body as JSON; fails the test if it is none.
wire::Json json_of(const ports::HttpResponse& response);

inline const std::string kWs =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/w1";

}  // namespace lavant::api

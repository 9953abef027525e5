#pragma once
// The application's side of one request: answered once, from any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "adapters/http_server/mailbox.h"
#include "ports/http.h"

namespace lavant::adapters::http {

class Connection;

// Shared by the writer and the connection. The writer appends; the connection takes everything that came
// since it last looked, so that many small writes leave as one.
class Stream final : public ports::ResponseStream, public std::enable_shared_from_this<Stream> {
 public:
    Stream(std::weak_ptr<Connection> connection, std::shared_ptr<Mailbox> mailbox, std::size_t bytes_max);

    void write(std::string bytes) override;
    void finish() override;
    bool client_is_gone() const override { return gone_.load(); }
    std::size_t bytes_waiting() const override { return waiting_.load(); }

    // By the connection.
    struct Portion {
        std::string bytes;
        bool finished = false;
    };
    Portion take();
    bool is_overflowed() const { return overflowed_.load(); }  // the client takes too little: cut it
    void taken_by_client(std::size_t bytes) { waiting_.fetch_sub(bytes); }
    void mark_gone() { gone_.store(true); }

 private:
    void wake();

    const std::weak_ptr<Connection> connection_;
    const std::shared_ptr<Mailbox> mailbox_;  // shared: see Mailbox
    const std::size_t bytes_max_;
    std::atomic<bool> gone_{false};
    std::atomic<bool> overflowed_{false};
    std::atomic<std::size_t> waiting_{0};
    std::mutex mutex_;  // guards what follows
    std::string pending_;
    bool finished_ = false;
    bool woken_ = false;
};

class Exchange final : public ports::Responder {
 public:
    struct Origin {
        std::weak_ptr<Connection> connection;
        std::shared_ptr<Mailbox> mailbox;  // shared: see Mailbox
        std::size_t stream_bytes_max = 0;
        std::string body_file;  // removed at the end, unless the handler moved it
    };
    explicit Exchange(Origin origin);
    ~Exchange() override;

    void respond(ports::HttpResponse response) override;
    std::shared_ptr<ports::ResponseStream> stream(ports::HttpResponse head) override;

 private:
    bool claim();
    void answer(ports::HttpResponse response, std::shared_ptr<Stream> stream);

    const Origin origin_;
    std::atomic<bool> answered_{false};
};

}  // namespace lavant::adapters::http

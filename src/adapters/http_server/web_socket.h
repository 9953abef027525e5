#pragma once
// One WebSocket after its upgrade. Beast reads (masks, fragments, pings, limits); frames to be sent are laid
// one after the other into the transport and leave together.

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/http_server/transport.h"
#include "adapters/http_server/worker.h"
#include "ports/http.h"

namespace lavant::adapters::http {

class WebSocket;

// Shared by the application's senders. Frames sent before the thread looked again cost one wake-up together.
class Peer final : public ports::SocketPeer {
 public:
    Peer(std::weak_ptr<WebSocket> socket, std::shared_ptr<Mailbox> mailbox, std::size_t bytes_max);

    void send(std::string frame) override;
    void close() override;

    // By the socket.
    struct Portion {
        std::vector<std::string> frames;
        bool closing = false;
    };
    Portion take();
    bool is_overflowed() const { return overflowed_.load(); }  // the other end takes too little: cut it
    void sent(std::size_t bytes);
    void mark_gone();

 private:
    void wake();

    const std::weak_ptr<WebSocket> socket_;
    const std::shared_ptr<Mailbox> mailbox_;  // shared: see Mailbox
    const std::size_t bytes_max_;
    std::atomic<bool> overflowed_{false};
    std::mutex mutex_;  // guards what follows
    Portion pending_;
    std::size_t bytes_waiting_ = 0;
    bool woken_ = false;
    bool gone_ = false;
};

class WebSocket final : public Client, public std::enable_shared_from_this<WebSocket> {
 public:
    WebSocket(Worker& worker, std::unique_ptr<Transport> transport,
              std::unique_ptr<ports::SocketHandler> handler);
    ~WebSocket() override;

    // Answers the upgrade request; `received` came after it.
    void accept(const ports::HttpRequest& head, std::string received);

    void tick(Tick now) override;
    void drain() override;
    void abort() override;

    void peer_has_more();

 private:
    struct Wire;  // the Beast stream over the transport

    void opened();
    void read_next();
    void close(bool going_away);
    void end();
    void send_more();
    void lay_frames();
    void count_bytes();

    Worker& worker_;
    Common& common_;
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<ports::SocketHandler> handler_;
    std::unique_ptr<Wire> wire_;
    std::shared_ptr<Peer> peer_;  // shared: with the application
    std::deque<std::string> outgoing_;
    std::size_t in_flight_ = 0;
    bool write_armed_ = false;
    bool close_wanted_ = false;
    bool open_ = false;  // the application was told
    bool closing_ = false;
    bool ended_ = false;
    Tick stuck_since_ = Tick::max();
    std::size_t stuck_at_ = 0;
    std::uint64_t counted_in_ = 0;
    std::uint64_t counted_out_ = 0;
};

}  // namespace lavant::adapters::http

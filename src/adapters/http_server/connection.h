#pragma once
// One HTTP/1.1 connection: reads a request, hands it to the application, writes the answer, again and again.
// A state machine that is pumped until it must wait; requests that came in one packet are served in turn.

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "adapters/http_server/exchange.h"
#include "adapters/http_server/request_reader.h"
#include "adapters/http_server/response_writer.h"
#include "adapters/http_server/transport.h"
#include "adapters/http_server/worker.h"
#include "base/files.h"
#include "ports/http.h"

namespace lavant::adapters::http {

class Connection final : public Client, public std::enable_shared_from_this<Connection> {
 public:
    Connection(Worker& worker, Fd socket, std::string peer);
    ~Connection() override;

    void start();

    void tick(Tick now) override;
    void drain() override;
    void abort() override;

    // On the worker's thread, by the exchange and its stream.
    void answer(ports::HttpResponse response, std::shared_ptr<Stream> stream);
    void stream_has_more();

 private:
    enum class State { Sniff, Handshake, Head, Body, Answer, Write, Linger, Closed };

    // Each does one thing and says whether to go on at once.
    void pump();
    bool step();
    bool step_sniff();
    bool step_handshake();
    bool step_read();
    bool step_write();
    bool step_linger();

    bool read_more();
    bool head_done();
    bool begin_body();
    bool store_body();
    bool hand_over();
    bool upgrade();
    void refuse(const Refusal& refusal);
    void refuse_plain_text();
    bool finish_exchange();
    void begin_linger();

    void arm_read();
    void arm_write();
    void watch_client();
    void extend(Duration span);
    void on_deadline();
    void drop_spool();
    void start_write_back();
    void count_bytes();

    Worker& worker_;
    Common& common_;
    std::unique_ptr<Transport> transport_;
    const std::string peer_;
    State state_ = State::Sniff;
    bool pumping_ = false;
    bool read_armed_ = false;
    bool write_armed_ = false;
    Tick deadline_ = Tick::max();

    std::string in_;  // received, not consumed
    RequestReader reader_;
    bool request_begun_ = false;
    std::uint64_t window_bytes_ = 0;  // body bytes when the present span began
    std::uint64_t charged_bytes_ = 0;
    Fd spool_;
    std::uint64_t spool_bytes_ = 0;    // written to it
    std::uint64_t spool_started_ = 0;  // of those, on their way to the disk
    std::string spool_path_;

    bool keep_alive_ = true;
    bool is_head_ = false;
    bool is_http_1_0_ = false;
    ResponseWriter writer_;
    std::size_t queued_before_ = 0;  // when the present span of writing began
    std::uint64_t counted_in_ = 0;
    std::uint64_t counted_out_ = 0;
};

}  // namespace lavant::adapters::http

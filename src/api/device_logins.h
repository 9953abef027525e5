#pragma once
// Logins of clients that cannot take a secret (OAuth's device code): the client shows a short code, somebody
// who is signed in approves it, and the client, which asks again and again, gets a key of its own. What waits
// is kept in memory only: after a restart the client begins anew.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "ports/crypto.h"

namespace lavant::api {

inline constexpr Duration kDeviceLoginLife = std::chrono::minutes(15);

class DeviceLogins {
 public:
    static constexpr std::size_t kWaitingMax = 1'000;
    static constexpr std::size_t kWaitingPerHostMax = 20;

    explicit DeviceLogins(ports::Crypto& crypto) : crypto_(crypto) {}

    struct Begun {
        std::string device_code;  // the client's secret
        std::string user_code;    // "BCDF-GHJK"
    };
    // nullopt: too many wait already, all together or from this host.
    std::optional<Begun> begin(const std::string& client, const std::string& host, Instant now);

    struct Asked {
        std::string client;
        std::string host;
    };
    // Of a login that still waits for somebody's word. Case and hyphens of a code do not matter.
    std::optional<Asked> find(std::string_view user_code, Instant now);
    // False: there is none that waits.
    bool approve(std::string_view user_code, const std::string& key, Instant now);
    bool deny(std::string_view user_code, Instant now);

    enum class State { Unknown, Waiting, Denied, Approved };
    struct Polled {
        State state = State::Unknown;
        std::string key;  // handed out once
    };
    Polled poll(std::string_view device_code, std::string_view client, Instant now);

 private:
    struct Login {
        std::string user_code;
        std::string client;
        std::string host;
        Instant until{};
        State state = State::Waiting;
        std::string key;
    };
    void drop_old(Instant now);
    Login* waiting(std::string_view user_code, Instant now);

    ports::Crypto& crypto_;
    std::mutex mutex_;                     // guards what follows
    std::map<std::string, Login> logins_;  // by the hash of the device code
};

}  // namespace lavant::api

#pragma once
// Whose turn it is among hosts that may be slow or dead: one piece of work of a host at a time, in order, and
// hosts in turn. A host that held a piece up rests, each time twice as long, and its work waits with it.
// Pure: time comes in.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"

namespace lavant::app {

class HostTurns {
 public:
    using Work = std::function<bool()>;  // false: the host held it up
    struct Settings {
        Duration rest = std::chrono::seconds{10};
        Duration rest_max = std::chrono::minutes{2};
        std::size_t waiting_max = 100'000;
    };
    struct Turn {
        std::string host;
        Work work;
    };

    explicit HostTurns(Settings settings) : settings_(settings) {}

    [[nodiscard]] bool add(const std::string& host, Work work);  // false: too much waits
    // The next that may begin; end() must follow for its host.
    std::optional<Turn> take(Instant now);
    void end(const std::string& host, bool went_on, Instant now);
    std::optional<Instant> next_wake() const;  // when a host has rested
    void clear();                              // what waits is forgotten
    std::size_t waiting() const { return waiting_; }
    std::size_t hosts() const { return hosts_.size(); }

 private:
    struct Host {
        std::deque<Work> work;
        bool is_busy = false;
        int held_up = 0;  // times in a row
        std::optional<Instant> rests_until;
    };
    void queue(const std::string& name, Host& host);
    void wake(Instant now);

    Settings settings_;
    std::map<std::string, Host> hosts_;  // those with work, busy or at rest
    std::deque<std::string> ready_;      // with work, neither busy nor at rest
    std::set<std::pair<Instant, std::string>> resting_;
    std::size_t waiting_ = 0;
};

}  // namespace lavant::app

#include "api/device_logins.h"

#include <algorithm>

#include "base/text.h"

namespace lavant::api {
namespace {

// No vowels, so that no code is a word, and nothing that looks like something else.
constexpr std::string_view kLetters = "BCDFGHJKLMNPQRSTVWXZ";
constexpr std::size_t kCodeLetters = 8;

std::string draw_user_code(ports::Crypto& crypto) {
    constexpr unsigned kFair = 256U - 256U % static_cast<unsigned>(kLetters.size());
    std::string code;
    while (code.size() < kCodeLetters) {
        for (const char c : crypto.random_bytes(kCodeLetters)) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte < kFair && code.size() < kCodeLetters) code += kLetters[byte % kLetters.size()];
        }
    }
    return code;
}

std::string normal_code(std::string_view text) {
    std::string code;
    for (const char c : text.substr(0, 4 * kCodeLetters)) {
        if (c >= 'a' && c <= 'z') code += static_cast<char>(c - 'a' + 'A');
        if (c >= 'A' && c <= 'Z') code += c;
    }
    return code;
}

}  // namespace

void DeviceLogins::drop_old(Instant now) {
    std::erase_if(logins_, [now](const auto& one) { return now >= one.second.until; });
}

DeviceLogins::Login* DeviceLogins::waiting(std::string_view user_code, Instant now) {
    drop_old(now);
    const std::string code = normal_code(user_code);
    for (auto& [hash, login] : logins_)
        if (login.state == State::Waiting && login.user_code == code) return &login;
    return nullptr;
}

std::optional<DeviceLogins::Begun> DeviceLogins::begin(const std::string& client, const std::string& host,
                                                       Instant now) {
    const std::lock_guard lock(mutex_);
    drop_old(now);
    const auto of_host =
        std::ranges::count_if(logins_, [&](const auto& one) { return one.second.host == host; });
    if (logins_.size() >= kWaitingMax || static_cast<std::size_t>(of_host) >= kWaitingPerHostMax)
        return std::nullopt;
    std::string code = draw_user_code(crypto_);
    while (std::ranges::any_of(logins_, [&](const auto& one) { return one.second.user_code == code; }))
        code = draw_user_code(crypto_);
    std::string device_code = base64url_encode(crypto_.random_bytes(32));
    logins_[crypto_.sha256(device_code)] = {
        .user_code = code, .client = client, .host = host, .until = now + kDeviceLoginLife, .key = {}};
    return Begun{std::move(device_code), code.substr(0, 4) + "-" + code.substr(4)};
}

std::optional<DeviceLogins::Asked> DeviceLogins::find(std::string_view user_code, Instant now) {
    const std::lock_guard lock(mutex_);
    const Login* login = waiting(user_code, now);
    if (login == nullptr) return std::nullopt;
    return Asked{login->client, login->host};
}

bool DeviceLogins::approve(std::string_view user_code, const std::string& key, Instant now) {
    const std::lock_guard lock(mutex_);
    Login* login = waiting(user_code, now);
    if (login == nullptr) return false;
    login->state = State::Approved;
    login->key = key;
    return true;
}

bool DeviceLogins::deny(std::string_view user_code, Instant now) {
    const std::lock_guard lock(mutex_);
    Login* login = waiting(user_code, now);
    if (login == nullptr) return false;
    login->state = State::Denied;
    return true;
}

DeviceLogins::Polled DeviceLogins::poll(std::string_view device_code, std::string_view client, Instant now) {
    const std::lock_guard lock(mutex_);
    drop_old(now);
    const auto found = logins_.find(crypto_.sha256(device_code));
    if (found == logins_.end() || found->second.client != client) return {};
    Polled polled{found->second.state, found->second.key};
    if (polled.state != State::Waiting) logins_.erase(found);
    return polled;
}

}  // namespace lavant::api

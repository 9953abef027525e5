#pragma once
// One server as the commands see it: ARM resources and our own routes as JSON, refusals as Failures.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/outcome.h"
#include "core/model/workspace.h"
#include "ports/http.h"
#include "wire/json.h"

namespace lavant::cli {

struct ServerAddress {
    std::string url;  // https://host:port, no slash at the end
    std::string ca_file;
    std::string token;
    WorkspaceName workspace = default_workspace();
    std::string data = {};     // folder of an embedded server; "" for any other
    std::string context = {};  // under which name the user logged in; "" if not by a context
    int timeout_s = 60;        // for one answer
};

// Where the rest of a list is, on the same server whatever its address says; "" at the end.
std::string next_page(const wire::Json& page);

class Session {
 public:
    Session(std::unique_ptr<ports::HttpClient> client, ServerAddress address);

    const ServerAddress& address() const { return address_; }
    void use_timeout(int seconds) { address_.timeout_s = seconds; }
    void use_token(std::string token) { address_.token = std::move(token); }
    // Asked when this server cannot be reached: what to tell instead of the client's error.
    using Explain = std::function<Failure(const Error&)>;
    void explain_with(Explain explain) { explain_ = std::move(explain); }
    // "/subscriptions/…/workspaces/…" + `rest`; `rest` begins with '/' and is encoded already.
    std::string workspace_path(std::string_view rest = {}) const;
    std::string job_path(std::string_view name) const;      // ARM
    std::string compute_path(std::string_view name) const;  // likewise
    std::string own_path(std::string_view rest) const { return "/lavant/v1" + std::string(rest); }

    [[nodiscard]] Outcome<wire::Json> get(const std::string& path);
    [[nodiscard]] Outcome<wire::Json> put(const std::string& path, const wire::Json& body);
    // Refused with Conflict if there is one of that name already.
    [[nodiscard]] Outcome<wire::Json> create(const std::string& path, const wire::Json& body);
    // Refused with NotFound if there is none of that name.
    [[nodiscard]] Outcome<wire::Json> replace(const std::string& path, const wire::Json& body);
    [[nodiscard]] Outcome<wire::Json> patch(const std::string& path, const wire::Json& body);
    [[nodiscard]] Outcome<wire::Json> post(const std::string& path, const wire::Json& body);
    [[nodiscard]] Outcome<void> remove(const std::string& path);
    // The same with words for a refusal, which the path does not give: "set the quota". `body` may be null.
    [[nodiscard]] Outcome<wire::Json> attempt(const std::string& what, std::string method,
                                              const std::string& path, const wire::Json& body);

    // Any other request to this server or to an address it gave; `request.url` may be a path. Adds no
    // credentials to absolute addresses: those carry a signature of their own.
    [[nodiscard]] Outcome<ports::HttpResponse> send(ports::ClientRequest request);

    // What the server said no with: its code, message and field problems.
    static Failure refusal(const ports::HttpResponse& response, std::string_view attempted);

 private:
    Outcome<wire::Json> exchange(std::string method, const std::string& path, const wire::Json* body,
                                 std::vector<ports::Header> headers = {}, std::string_view attempted = {});

    std::unique_ptr<ports::HttpClient> client_;
    ServerAddress address_;
    Explain explain_;
};

}  // namespace lavant::cli

#pragma once
// Puts what a job or component file names on this machine onto the server, and answers with its ids there:
// folders of code, local data, environments and anonymous components, each made as azure-ai-ml makes it.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cli/code_snapshot.h"
#include "cli/console.h"
#include "cli/session.h"
#include "cli/upload.h"
#include "ports/crypto.h"
#include "wire/resolver.h"

namespace lavant::cli {

using Snapshots = std::map<std::string, Snapshot>;  // by key_of
// The folder, and below it, line by line, what is included.
std::string key_of(const wire::CodeAsk& ask);

// The code folders of this machine that a job or component sends, read: one that is missing or has no file is
// an error. `make_body` makes the body with the resolver it gets.
using MakeBody = std::function<Result<wire::Json>(wire::Resolver&)>;
[[nodiscard]] Outcome<Snapshots> read_code_folders(const MakeBody& make_body, const Console& console);

class SessionResolver : public wire::Resolver {
 public:
    // `snapshots` are of folders that were read before, so that a broken one starts no server.
    SessionResolver(Session& session, ports::Crypto& crypto, const Console& console, Snapshots snapshots = {})
        : session_(session),
          crypto_(crypto),
          uploader_(session, crypto, &console),
          snapshots_(std::move(snapshots)) {}

    Result<std::string> code(const wire::CodeAsk& ask) override;
    Result<std::string> environment(const spec::EnvironmentSpec& environment) override;
    Result<std::string> component_named(const std::string& reference) override;
    Result<std::string> data(const spec::InputSpec& input) override;
    Result<std::string> component(const wire::Json& body) override;
    Result<std::string> job_component(const wire::Json& body) override { return component(body); }
    std::string compute(const std::string& name) override;
    std::string datastore(const std::string& name) override;

    Uploader& uploader() { return uploader_; }
    // A Result has no exit code: the whole failure of the last call that failed.
    template <class T>
    Outcome<T> outcome(Result<T> result) {
        if (result) return std::move(*result);
        if (failure_) return tl::make_unexpected(std::move(*failure_));
        return tl::make_unexpected(Failure(std::move(result).error()));
    }

 private:
    Result<std::string> keep(Outcome<std::string> made);
    Outcome<std::string> upload_code(const wire::CodeAsk& ask);
    Outcome<std::string> upload_data(const spec::InputSpec& input);
    Outcome<std::string> environment_id(const std::string& reference);
    Outcome<std::string> put_environment(const spec::EnvironmentSpec& environment);
    Outcome<std::string> put_component(const wire::Json& body);
    Outcome<std::string> id_of(const char* kind, const std::string& reference);
    std::string id_of_named(const char* kind, const std::string& name);

    Session& session_;
    ports::Crypto& crypto_;
    Uploader uploader_;
    Snapshots snapshots_;
    std::optional<Failure> failure_;
    std::map<std::string, std::string> codes_;  // by key_of: steps often share one
    std::map<std::string, std::string> data_;   // by datastore and path: likewise
};

// The version of an anonymous component: the same as azure-ai-ml gives to the same specification.
std::string component_guid(const wire::Json& component_spec, ports::Crypto& crypto);

}  // namespace lavant::cli

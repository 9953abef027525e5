#pragma once
// The REST API: ARM, run history, Blob subset and our own routes behind one HttpApplication. Node-facing
// routes are another application's; main joins both.

#include <memory>

#include "api/context.h"
#include "ports/http.h"

namespace lavant::api {

class Api final : public ports::HttpApplication {
 public:
    Api(ApiPorts ports, ApiSettings settings);
    ~Api() override;

    ports::BodyPlan plan_body(const ports::HttpRequest& head) override;
    void handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) override;
    tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> accept_socket(
        const ports::HttpRequest& head) override;

    // Gives time to what waits (long polls, streams). Returns how long the caller may sleep before the next
    // call.
    Duration tick();
    // Ends everything that waits: called before the server stops.
    void close();
    // The token a task gets (LoopPorts::make_job_token). Any thread.
    std::string make_job_token(const JobHead& job, int attempt) const;
    Access& access() { return context_.access; }
    const std::vector<RouteRow>& routes() const { return router_.routes(); }

 private:
    Caller storage_caller(const ports::HttpRequest& request);
    void refuse(const Call& call, const Error& error);
    // Who calls is known; which workspace it is about, is found or made here.
    void enter_workspace(const SharedCall& call, const Route& route);
    void run(const SharedCall& call, const Route& route);

    Context context_;
    Router router_;
};

}  // namespace lavant::api

#pragma once
// `GET /lavant/v1/audit`, and what writes the records: a responder around the server's own.

#include <memory>

#include "api/context.h"

namespace lavant::api {

void add_audit_routes(Router& router, Context& context);

// Whether a request is one that changes something. HEAD and GET are not.
bool is_write(const ports::HttpRequest& request);

// What is known about a request by the time it is answered.
struct AuditNote {
    AuditRecord record;
    bool reads = false;  // a POST that changes nothing: kept only if it was refused
};
// Writes the record before the answer leaves. `note` is filled in meanwhile, by one thread at a time.
std::shared_ptr<ports::Responder> audited(Context& context, std::shared_ptr<ports::Responder> responder,
                                          std::shared_ptr<AuditNote> note);
std::shared_ptr<AuditNote> begin_note(Context& context, const ports::HttpRequest& request);
void sign_note(const Call& call);  // with who the caller is

}  // namespace lavant::api

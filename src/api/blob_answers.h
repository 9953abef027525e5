#pragma once
// What answers about blobs have in common, and what requests say about a blob in their headers.

#include <memory>
#include <optional>

#include "api/blob_access.h"
#include "api/context.h"
#include "ports/blobs.h"

namespace lavant::api {

// One request about a container or a blob, admitted.
struct BlobCall {
    SharedCall call;
    BlobGrant grant;
    const ports::HttpRequest& request() const { return call->request; }
    const std::string& container() const { return call->param("container"); }
    const std::string& blob() const { return call->param("blob"); }
    std::string comp() const { return request().query_value("comp").value_or(""); }
};
using SharedBlobCall = std::shared_ptr<const BlobCall>;

// Answers it, with what every answer of the storage says.
void finish(const Call& call, ports::HttpResponse response);

void add_etag(ports::HttpResponse& response, const ports::BlobInfo& blob);
ports::HttpResponse no_blob();
ports::HttpResponse written(int status, const ports::BlobInfo& blob);
ports::HttpResponse not_permitted(std::string_view why);

// x-ms-meta-*; an answer where they are more than a blob may have.
tl::expected<std::map<std::string, std::string>, ports::HttpResponse> metadata_of(
    const ports::HttpRequest& request);
// x-ms-blob-content-type and the like; `plain` also takes Content-Type and the like for those absent.
std::map<std::string, std::string> properties_of(const ports::HttpRequest& request, bool plain);

// The check of a conditional write. `refused` gets the answer.
ports::BlobCheck make_check(const SharedBlobCall& call,
                            const std::shared_ptr<std::optional<ports::HttpResponse>>& refused);

// Reads (blob_reads.cpp) and writes (blob_writes.cpp). Each answers, now or later.
void read_blob(Context& context, const SharedBlobCall& call);
void write_blob(Context& context, const SharedBlobCall& call);
void delete_blob(Context& context, const SharedBlobCall& call);
// Containers and the account (blob_containers.cpp).
void read_container(Context& context, const SharedBlobCall& call);
void write_container(Context& context, const SharedBlobCall& call);
void read_account(Context& context, const SharedCall& call);

}  // namespace lavant::api

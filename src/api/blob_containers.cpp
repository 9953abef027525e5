// Containers and the account: listings, properties, and what is refused because datastores make containers.

#include <algorithm>

#include "api/answers.h"
#include "api/blob_answers.h"
#include "api/blob_xml.h"
#include "api/datastores.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;

constexpr int kListMax = 5000;

HttpResponse list(Context& context, const BlobCall& call) {
    const ports::HttpRequest& request = call.request();
    ports::BlobListing listing;
    listing.container = call.container();
    listing.prefix = request.query_value("prefix").value_or("");
    listing.delimiter = request.query_value("delimiter").value_or("");
    listing.marker = request.query_value("marker").value_or("");
    const std::string wanted = request.query_value("maxresults").value_or("");
    const std::int64_t results = parse_integer(wanted).value_or(wanted.empty() ? kListMax : 0);
    if (results < 1)
        return storage_error(400, "OutOfRangeQueryParameterValue", "maxresults must be a number from 1 on");
    listing.limit = static_cast<int>(std::min<std::int64_t>(results, kListMax));
    if (!listing.delimiter.empty() && listing.delimiter != "/")
        return storage_error(400, "InvalidQueryParameterValue", "the only delimiter is '/'");
    context.job_files.refresh(listing.container, listing.prefix);
    const auto page = context.ports.blobs.list(listing);
    if (!page) return storage_error(page.error());
    const std::string include = request.query_value("include").value_or("");
    const ListView view{origin_of(context, request) + "/storage/" + kStorageAccount + "/",
                        include.find("metadata") != std::string::npos};
    HttpResponse response;
    response.headers = {{"Content-Type", "application/xml"}};
    response.body = render_blob_list(listing, *page, view);
    return response;
}

HttpResponse about_container(const BlobCall& call) {
    HttpResponse response;
    response.headers = {{"ETag", "\"0x1\""},
                        {"Last-Modified", to_http_date(from_micros(0))},
                        {"x-ms-lease-status", "unlocked"},
                        {"x-ms-lease-state", "available"},
                        {"x-ms-has-immutability-policy", "false"},
                        {"x-ms-has-legal-hold", "false"}};
    if (call.request().method == "HEAD") response.content_length = 0;
    if (call.comp() == "acl") {
        response.headers.emplace_back("Content-Type", "application/xml");
        response.body = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers />";
    }
    return response;
}

// Only those that the caller's credential opens are listed.
HttpResponse list_account(Context& context, const ports::HttpRequest& request) {
    const auto caller = check_account_credential(context, request);
    if (!caller) return storage_error(caller.error().status, caller.error().code, caller.error().message);
    const auto containers = list_containers(context);
    if (!containers) return storage_error(containers.error());
    const std::string prefix = request.query_value("prefix").value_or("");
    std::vector<std::string> visible;
    StorageRefusal why{401, "NoAuthenticationInformation", "the request has no credential for this account"};
    bool opens_any = false;
    for (const std::string& container : *containers) {
        // A credential for the account is one for a container, and says nothing of which.
        const auto may = may_list_container(context, request, *caller, container);
        if (!may) {
            why = may.error();
            continue;
        }
        opens_any = true;
        if (container.starts_with(prefix)) visible.push_back(container);
    }
    if (!opens_any) return storage_error(why.status, why.code, why.message);
    HttpResponse response;
    response.headers = {{"Content-Type", "application/xml"}};
    response.body = render_container_list(origin_of(context, request) + "/storage/" + kStorageAccount + "/",
                                          prefix, visible);
    return response;
}

}  // namespace

void read_container(Context& context, const SharedBlobCall& call) {
    const std::string comp = call->comp();
    // A folder may have any number of files, and each page looks at all of them.
    if (comp == "list")
        return run_slowly(context, [&context, call] { finish(*call->call, list(context, *call)); });
    if (comp.empty() || comp == "metadata" || comp == "acl")
        return finish(*call->call, about_container(*call));
    finish(*call->call,
           storage_error(400, "UnsupportedQueryParameter", "comp=" + comp + " is not supported here"));
}

void write_container(Context& context, const SharedBlobCall& call) {
    const bool makes = call->request().method == "PUT" && call->comp().empty();
    if (makes && context.ports.blobs.has_container(call->container()))
        return finish(*call->call, storage_error(409, "ContainerAlreadyExists",
                                                 "The specified container already exists."));
    finish(*call->call,
           storage_error(403, "AuthorizationFailure",
                         "containers come and go with datastores: lavant datastore create --name NAME --path "
                         "FOLDER, lavant datastore delete --name NAME"));
}

void read_account(Context& context, const SharedCall& call) {
    const ports::HttpRequest& request = call->request;
    const std::string comp = request.query_value("comp").value_or("");
    HttpResponse response;
    if (request.query_value("restype").value_or("") == "account") {
        response.headers = {{"x-ms-sku-name", "Standard_LRS"},
                            {"x-ms-account-kind", "BlobStorage"},
                            {"x-ms-is-hns-enabled", "false"}};
        if (request.method == "HEAD") response.content_length = 0;
        return finish(*call, std::move(response));
    }
    if (comp != "list" || request.method != "GET")
        return finish(*call, storage_error(400, "UnsupportedQueryParameter",
                                           "of the account there is a list of its containers: ?comp=list"));
    // However many workspaces there are, each has to be looked at.
    run_slowly(context, [&context, call] { finish(*call, list_account(context, call->request)); });
}

}  // namespace lavant::api

#include "api/blob_routes.h"

#include <utility>

#include "api/answers.h"
#include "api/blob_answers.h"

namespace lavant::api {
namespace {

constexpr std::size_t kBlobNameBytes = 1024;

bool is_usable_name(std::string_view blob) {
    return blob.size() <= kBlobNameBytes && !ports::is_staged(blob) &&
           blob.find('\0') == std::string_view::npos;
}

using Handler = void (*)(Context&, const SharedBlobCall&);

void serve(Context& context, const SharedCall& call, Handler handler) {
    auto grant = check_blob_access(context, call->request, call->param("container"), call->param("blob"));
    if (!grant) {
        context.refused.fetch_add(1, std::memory_order_relaxed);
        const StorageRefusal& why = grant.error();
        return finish(*call, storage_error(why.status, why.code, why.message));
    }
    if (!is_usable_name(call->param("blob")))
        return finish(*call, storage_error(400, "InvalidResourceName", "this is not a name a blob can have"));
    if (!context.ports.blobs.has_container(call->param("container")) && handler != write_container)
        return finish(*call,
                      storage_error(404, "ContainerNotFound", "The specified container does not exist."));
    handler(context, std::make_shared<BlobCall>(BlobCall{call, std::move(*grant)}));
}

}  // namespace

bool may_upload(Context& context, const ports::HttpRequest& head, const Params& params) {
    return check_blob_access(context, head, params.get("container"), params.get("blob")).has_value() &&
           context.space.check_room().has_value();
}

void add_blob_routes(Router& router, Context& context) {
    const auto route = [&context](Handler handler) {
        return Route{Need::Storage,
                     [&context, handler](const SharedCall& call) { serve(context, call, handler); }};
    };
    for (const char* account : {kStorageAccount, kStorageHost}) {
        const std::string root = std::string("/storage/") + account;
        const std::string container = root + "/{container}";
        router.add("GET,HEAD", root,
                   Route{Need::Storage, [&context](const SharedCall& call) { read_account(context, call); }});
        router.add("GET,HEAD", container, route(read_container));
        router.add("PUT,DELETE", container, route(write_container));
        router.add("GET,HEAD", container + "/{blob*}", route(read_blob));
        router.add("PUT", container + "/{blob*}", route(write_blob));
        router.add("DELETE", container + "/{blob*}", route(delete_blob));
    }
}

}  // namespace lavant::api

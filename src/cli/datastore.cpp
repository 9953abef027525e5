#include "cli/datastore.h"

#include <fmt/format.h>

#include "base/text.h"

namespace lavant::cli {

using wire::Json;

Outcome<DatastorePlace> open_datastore(Session& session, const std::string& name) {
    const std::string path = session.workspace_path("/datastores/" + percent_encode(name));
    LAVANT_TRY(const Json about, session.get(path));
    LAVANT_TRY(const Json secret,
               session.post(path + "/listSecrets",
                            Json::object({{"expirableSecret", true}, {"expireAfterHours", 1}})));
    const Json& properties = about["properties"];
    DatastorePlace place{fmt::format("https://{}.blob.core.windows.net/{}", properties["accountName"].text(),
                                     properties["containerName"].text()),
                         secret["sasToken"].string()};
    if (place.signature.empty())
        return stop(Exit::Refused, ErrorCode::Internal,
                    "cannot use datastore '" + name + "': the server gave no signature for it");
    return place;
}

}  // namespace lavant::cli

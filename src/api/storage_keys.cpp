#include "api/storage_keys.h"

namespace lavant::api {

KeyOfContainer make_storage_keys(ports::Crypto& crypto, const std::string& secret) {
    return [&crypto, master = crypto.hmac_sha256(secret, "lavant storage account")](
               const std::string& container) { return crypto.hmac_sha256(master, container); };
}

std::vector<std::string> account_spellings(const ports::HttpRequest& request) {
    const std::string below = "storage/";
    std::vector<std::string> names;
    for (const std::string account : {kStorageAccount, kStorageHost}) {
        names.push_back(account);
        names.push_back(below + account);
        names.push_back(std::string(request.header("Host")) + "/" + below + account);
    }
    return names;
}

}  // namespace lavant::api

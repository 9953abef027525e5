#pragma once
// A server certificate and the TLS settings that go with it.

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace lavant::adapters::http {

// Where a TLS object gets its bytes and where it leaves them: read from the socket, written to memory, so
// that several records leave with one system call.
struct TlsWire {
    int socket = -1;
    std::string out;
};

// Shared: connections made with an older certificate keep theirs.
class TlsContext {
 public:
    [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> load(const std::string& certificate_file,
                                                                        const std::string& key_file);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    // The server's side of one connection; the caller frees it. `wire` must outlive it.
    SSL* make_connection(TlsWire* wire) const;

 private:
    TlsContext() = default;
    SSL_CTX* context_ = nullptr;
    BIO_METHOD* wire_method_ = nullptr;
};

}  // namespace lavant::adapters::http

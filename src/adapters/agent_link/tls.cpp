#include "adapters/agent_link/tls.h"

#include <openssl/x509.h>

#include <cstdlib>

#include "base/files.h"

namespace lavant::adapters::agent_link {
namespace {

bool has_its_own_place() {
    return std::getenv(X509_get_default_cert_file_env()) != nullptr ||
           std::getenv(X509_get_default_cert_dir_env()) != nullptr || exists(X509_get_default_cert_file()) ||
           exists(X509_get_default_cert_dir());
}

}  // namespace

boost::asio::ssl::context make_tls() {
    // What this machine's openssl.cnf may ask for is meant for its own OpenSSL; the agent may bring another.
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    boost::asio::ssl::context tls(boost::asio::ssl::context::tls_client);
    tls.set_verify_mode(boost::asio::ssl::verify_peer);
    (void)SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
    return tls;
}

boost::asio::ssl::context make_world_tls() {
    boost::asio::ssl::context tls = make_tls();
    boost::system::error_code unreadable;  // Then no certificate is believed, and the handshake says so.
    (void)tls.set_default_verify_paths(unreadable);
    if (has_its_own_place()) return tls;
    // An OpenSSL that was built for another distribution than this machine's.
    for (const char* bundle : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                               "/etc/ssl/ca-bundle.pem"}) {
        if (!exists(bundle)) continue;
        (void)tls.load_verify_file(bundle, unreadable);
        break;
    }
    return tls;
}

}  // namespace lavant::adapters::agent_link

#include "net/client_tls.h"

#include <openssl/x509.h>

#include <boost/asio/ip/address.hpp>
#include <cstdlib>

#include "base/check.h"
#include "base/files.h"

namespace lavant::net {
namespace {

bool has_its_own_place() {
    return std::getenv(X509_get_default_cert_file_env()) != nullptr ||
           std::getenv(X509_get_default_cert_dir_env()) != nullptr || exists(X509_get_default_cert_file()) ||
           exists(X509_get_default_cert_dir());
}

}  // namespace

boost::asio::ssl::context make_tls() {
    // What this machine's openssl.cnf may ask for is meant for its own OpenSSL; we may bring another.
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

void expect_host(SSL* connection, const std::string& host) {
    boost::system::error_code not_an_address;
    (void)boost::asio::ip::make_address(host, not_an_address);
    if (!not_an_address && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str()) == 1)
        return;
    CHECK(!host.empty() && SSL_set1_host(connection, host.c_str()) == 1,
          "no host, no check of the certificate");
    // The macro for this hides an old-style cast.
    (void)SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(host.c_str()));
}

}  // namespace lavant::net

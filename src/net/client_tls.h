#pragma once
// Whom a client believes: TLS contexts for those who dial.

#include <boost/asio/ssl/context.hpp>
#include <string>

namespace lavant::net {

boost::asio::ssl::context make_tls();        // trusts nobody yet
boost::asio::ssl::context make_world_tls();  // trusts whom this machine trusts

// The certificate must be for `host`, a name or an address, or the handshake fails.
void expect_host(SSL* connection, const std::string& host);

}  // namespace lavant::net

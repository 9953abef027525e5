#pragma once
// Whom the agent believes: TLS contexts for clients.

#include <boost/asio/ssl/context.hpp>

namespace lavant::adapters::agent_link {

boost::asio::ssl::context make_tls();        // trusts nobody yet
boost::asio::ssl::context make_world_tls();  // trusts whom this machine trusts

}  // namespace lavant::adapters::agent_link

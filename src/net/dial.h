#pragma once
// The first steps of a connection: from a name to addresses, from an address to a socket.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <vector>

#include "net/target.h"

namespace lavant::net {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

// Blocks for names, not for addresses: Asio's own resolver would start a thread, and an agent must be able to
// fork. Empty where the name is unknown.
Endpoints resolve(boost::asio::io_context& context, const Target& target);

// Nothing waits to be sent, and a peer that vanished is noticed.
void set_options(int socket);

// Opened afresh, and inherited by no program that we start.
bool open_private(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace lavant::net

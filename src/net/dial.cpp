#include "net/dial.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string>

namespace lavant::net {

using boost::system::error_code;
using Tcp = boost::asio::ip::tcp;

Endpoints resolve(boost::asio::io_context& context, const Target& target) {
    error_code error;
    const auto address = boost::asio::ip::make_address(target.host, error);
    if (!error) return {{address, static_cast<std::uint16_t>(std::stoi(target.port))}};
    Tcp::resolver resolver(context);
    Endpoints endpoints;
    for (const auto& entry : resolver.resolve(target.host, target.port, error))
        endpoints.push_back(entry.endpoint());
    return endpoints;
}

void set_options(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

bool open_private(Tcp::socket& socket, const Tcp::endpoint& endpoint) {
    error_code error;
    if (socket.is_open()) (void)socket.close(error);
    (void)socket.open(endpoint.protocol(), error);
    if (error) return false;
    set_options(socket.native_handle());
    return ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace lavant::net

// Stands in for the HTTP server's copy of the same, where that room is not built.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>

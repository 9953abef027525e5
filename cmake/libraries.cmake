# The libraries, found once. A room names those it needs with LIBS; see docs/decisions for why each is here.

set(BOOST_ROOT "" CACHE PATH "")
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)

# Asio and Beast compiled once (adapters/asio), not in every file that includes them.
add_library(lavant_boost INTERFACE)
target_link_libraries(lavant_boost INTERFACE Boost::headers)
target_compile_definitions(lavant_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
add_library(lavant_json INTERFACE)
target_link_libraries(lavant_json INTERFACE Boost::json)
add_library(lavant_yaml INTERFACE)
target_link_libraries(lavant_yaml INTERFACE yaml-cpp)
add_library(lavant_fmt INTERFACE)
target_link_libraries(lavant_fmt INTERFACE fmt::fmt)
# From its headers, in the one file that uses it: Debian has no static spdlog and fmt, and the agent is a static program.
add_library(lavant_spdlog INTERFACE)
target_link_libraries(lavant_spdlog INTERFACE spdlog::spdlog_header_only)
target_compile_definitions(lavant_spdlog INTERFACE FMT_HEADER_ONLY)

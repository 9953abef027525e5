# The libraries, found once. A room names those it needs with LIBS; see docs/decisions for why each is here.
# Static ones, because `lavant` is one program that needs nothing of the machine it runs on (docs/decisions/0009).

set(BOOST_ROOT "" CACHE PATH "")
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)

# Makes the library TARGET of lib<NAME>.a, or says which package has it.
function(lavant_static_library target name package)
  find_library(LAVANT_LIB_${name} NAMES lib${name}.a)
  if(NOT LAVANT_LIB_${name})
    message(FATAL_ERROR "lib${name}.a is missing: install ${package}, or what brings the static library ${name} on this system")
  endif()
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${LAVANT_LIB_${name}})
endfunction()
lavant_static_library(Boost::json boost_json libboost-json1.81-dev)
lavant_static_library(OpenSSL::Crypto crypto libssl-dev)
lavant_static_library(OpenSSL::SSL ssl libssl-dev)
lavant_static_library(SQLite::SQLite3 sqlite3 libsqlite3-dev)
lavant_static_library(yaml-cpp yaml-cpp libyaml-cpp-dev)
target_link_libraries(OpenSSL::SSL INTERFACE OpenSSL::Crypto)
target_link_libraries(Boost::json INTERFACE Boost::headers)
target_link_libraries(OpenSSL::Crypto INTERFACE ${CMAKE_DL_LIBS})
target_link_libraries(SQLite::SQLite3 INTERFACE m ${CMAKE_DL_LIBS})

# Asio and Beast compiled once (src/net), not in every file that includes them.
add_library(lavant_boost INTERFACE)
target_link_libraries(lavant_boost INTERFACE Boost::headers)
target_compile_definitions(lavant_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
add_library(lavant_json INTERFACE)
target_link_libraries(lavant_json INTERFACE Boost::json)
add_library(lavant_yaml INTERFACE)
target_link_libraries(lavant_yaml INTERFACE yaml-cpp)
# Debian has no static fmt and spdlog. fmt is compiled once from its headers; spdlog in the one file that uses it.
add_library(lavant_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt.cpp)
target_compile_options(lavant_fmt PRIVATE -ffunction-sections)
add_library(lavant_spdlog INTERFACE)
target_link_libraries(lavant_spdlog INTERFACE lavant_fmt)
target_compile_definitions(lavant_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)

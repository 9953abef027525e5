# Compiler flags, sanitizers, ccache and mold where present.

find_program(LAVANT_CCACHE ccache)
if(LAVANT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LAVANT_CCACHE})
endif()

find_program(LAVANT_MOLD mold)
if(LAVANT_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=mold)
endif()

# All functions are bound at the start of a program: safer, and the sandbox's launcher relies on it.
add_link_options(-Wl,-z,now)

set(LAVANT_WARNINGS
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wswitch-enum
  -Wno-missing-field-initializers)
if(LAVANT_WERROR)
  list(APPEND LAVANT_WARNINGS -Werror)
endif()
# g++ 12 reports false positives of these two in its own <string> and <variant>.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND LAVANT_WARNINGS -Wno-restrict -Wno-maybe-uninitialized)
endif()

# Asio fences between handlers that its own locks order already; g++ warns that tsan does not see fences.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND LAVANT_SANITIZE MATCHES "thread")
  list(APPEND LAVANT_WARNINGS -Wno-tsan)
endif()

add_compile_definitions(_GLIBCXX_ASSERTIONS)
if(LAVANT_SANITIZE)
  add_compile_options(-fsanitize=${LAVANT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LAVANT_SANITIZE})
endif()

find_package(Threads REQUIRED)
link_libraries(Threads::Threads)
